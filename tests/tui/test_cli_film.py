"""``gradstep film``: what it writes, what it says, and how it leaves the process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tui.conftest import Ended, Gradstep

LOOP = """\
import LIBRARY as torch

w = torch.tensor(3.0, requires_grad=True)
for step in range(3):
    loss = (w - step) ** 2
    loss.backward()
    print("step", step, w.grad.item())
"""


SQUARE = """\
import LIBRARY as torch

loss = (torch.tensor(3.0, requires_grad=True) - 1) ** 2
"""


@pytest.fixture
def film(gradstep: Gradstep) -> Callable[..., Ended]:
    return lambda *arguments, script=LOOP: gradstep(script, "film", *arguments)


def test_a_script_is_filmed_at_its_first_backward_call_and_ends_there(film):
    code, out, err = film("train.py")
    assert (code, out) == (0, "")
    assert err == "gradstep: wrote train-film.svg, 7 frames\n"
    assert "PowBackward0" in Path("train-film.svg").read_text()


def test_the_last_call_is_filmed_while_all_the_others_run(film):
    code, out, _ = film("--call", "last", "-o", "last.html", "train.py")
    assert code == 0
    assert out.splitlines() == ["step 0 6.0", "step 1 10.0", "step 2 12.0"]
    assert "10 + 2 = 12" in Path("last.html").read_text()


def test_standard_output_takes_the_film_and_nothing_else(film):
    code, out, err = film("--call", "last", "-o", "-", "train.py")
    assert code == 0
    assert out.startswith("<svg")
    assert out.rstrip().endswith("</svg>")
    assert err.splitlines() == ["step 0 6.0", "step 1 10.0", "step 2 12.0"]
    assert [path.name for path in Path().iterdir()] == ["train.py"]


def test_a_named_tensor_is_filmed_into_stills(film):
    code, _, err = film("train.py:loss", "-o", "frames", script=SQUARE)
    assert (code, err) == (0, "gradstep: wrote frames, 7 frames\n")
    assert len(list(Path("frames").iterdir())) == 7


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("-o", "film.png", "train.py"), 2, "use a name that ends in .svg, .gif or .html"),
        (("--seconds", "soon", "train.py"), 2, "'soon' is not a number of seconds"),
        (("--call", "9", "train.py"), 3, "there is no call 9"),
        (("train.py:loss",), 3, "its graph was freed by an earlier backward pass"),
        (("nothing.py",), 3, "nothing.py"),
        (("-o", "no/such/film.svg", "train.py"), 2, "there is no directory no/such"),
    ],
)
def test_bad_input_is_told_apart(film, arguments, code, said):
    found, _, err = film(*arguments)
    assert found == code
    assert said in err
    assert "Traceback" not in err


def test_a_script_that_fails_writes_nothing(film):
    code, _, err = film("train.py", script="1 / 0")
    assert code == 1
    assert "ZeroDivisionError" in err
    assert not Path("train.svg").exists()
