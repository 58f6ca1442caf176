"""Each sample runs as it stands and prints the numbers that its own docstring promises."""

from __future__ import annotations

import re
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np

from tests.forking import run_python

ROOT = Path(__file__).parents[1]


def run_sample(name: str, *arguments: str) -> CompletedProcess[str]:
    """Run a sample as a user would, from somewhere else; a traceback fails the test."""
    run = run_python([str(ROOT / "samples" / name), *arguments], ROOT / "tests")
    assert run.returncode == 0, run.stderr
    return run


def test_the_ball_rises_as_fast_as_the_gradient_by_time_says() -> None:
    run = run_sample("thrown_ball.py")
    assert run.stdout.splitlines() == [
        "height = 40",
        "d height / d speed = 2",
        "d height / d time = 10",
        "SubBackward0 hands gradients on to MulBackward0 and MulBackward0",
    ]
    assert run.stderr == ""


def test_the_square_of_the_same_area_follows_its_narrow_side() -> None:
    run = run_sample("same_area.py")
    assert run.stdout.splitlines() == [
        "side = 4",
        "d side / d width = 1",
        "d side / d height = 0.25",
    ]
    assert run.stderr == ""


def test_shared_weight_sums_what_its_four_uses_contribute() -> None:
    run = run_sample("shared_weight.py")
    assert run.stdout.splitlines() == ["last state = 12", "d state / d weight = 23"]
    assert run.stderr == ""


def test_digits_are_read_with_more_than_95_percent_held_out_accuracy() -> None:
    run = run_sample("digits_mlp.py")
    printed = re.fullmatch(r"accuracy on 359 held-out digits: (\d+\.\d)%\n", run.stdout)
    assert printed, run.stdout
    assert float(printed[1]) > 95
    # Standard error is no terminal here: plain lines, and nothing that moves the cursor.
    assert re.fullmatch(r"(epoch +\d+/20  loss \d\.\d{4}\n)+", run.stderr)


def test_digits_give_the_same_numbers_every_time() -> None:
    first, second = (run_sample("digits_mlp.py", "--epochs", "1") for _ in range(2))
    assert (first.stdout, first.stderr) == (second.stdout, second.stderr)


def test_the_digits_are_those_of_the_source_and_it_is_named() -> None:
    folder = ROOT / "samples" / "data"
    with np.load(folder / "digits.npz") as digits:
        images, labels = digits["images"], digits["labels"]
    assert (images.dtype, images.shape, images.max()) == (np.uint8, (1797, 8, 8), 16)
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    notes = (folder / "README.md").read_text("utf-8")
    assert "10.24432/C50P49" in notes
    assert "CC BY 4.0" in notes
