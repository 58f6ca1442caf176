"""Long graphs that were looked at are freed as others are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forking import run_gradstep, run_python

pytest.importorskip("torch", reason="PyTorch is not installed")

pytestmark = [pytest.mark.torch, pytest.mark.slow]

CHAIN = """\
import torch

class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient

x = torch.ones(1, requires_grad=True)
y = z = x
for number in range(60_000):
    y = Same.apply(y) if number % 3000 == 0 else y * 1.0 if number % 7 else 0.5 * (y + z)
    z = y if number % 5 == 0 else z
loss = y.sum()
"""
ENDS = {
    "the loss first": "del loss\ndel y\ndel z\n",
    "the loss last": "del z\ndel y\ndel loss\n",
}
COMMANDS = {
    "fail on": ["debug", "--fail-on", "nan"],
    "condition": ["debug", "--fail-on", "rms > 1e30"],
    "walk": ["debug", "--batch", "--ex", "next", "--ex", "continue"],
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_program_goes_on_after_a_command_has_read_its_graph(
    command: str, end: str, tmp_path: Path
) -> None:
    text = f"{CHAIN}loss.backward()\n{ENDS[end]}print('went on')\n"
    (tmp_path / "train.py").write_text(text, "utf-8")
    run = run_gradstep([*COMMANDS[command], "train.py"], tmp_path)
    assert (run.returncode, run.stdout.splitlines()[-1]) == (0, "went on"), run.stderr


@pytest.mark.parametrize(
    "use",
    [
        "import gradstep; gradstep.render(loss)",
        "from gradstep import Session; s = Session(loss, names={}); s.next(3); s.finish(); del s",
    ],
)
def test_a_program_goes_on_after_it_has_had_its_graph_read(use: str, tmp_path: Path) -> None:
    text = f"{CHAIN.replace('60_000', '120_000')}{use}\ndel loss\ndel y\ndel z\nprint('went on')\n"
    (tmp_path / "use.py").write_text(text, "utf-8")
    run = run_python(["use.py"], tmp_path)
    assert (run.returncode, run.stdout.splitlines()[-1:]) == (0, ["went on"]), run.stderr
