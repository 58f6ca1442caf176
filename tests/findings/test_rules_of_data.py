"""Rules that compare what goes into the graphs of several calls, on programs of PyTorch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from gradstep_tui.cli import main  # noqa: E402

pytestmark = pytest.mark.torch

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(6, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
data = torch.rand(48, 6)
for step in range(5):
    x = torch.stack([data[i] for i in torch.randperm(48)[:8].tolist()])
    y = torch.arange(8) % 4
"""
TAIL = """
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
OTHERS = "y.roll(1) + 4 * (torch.arange(8) < 4)"
SCORES = f"F.cross_entropy(SCORES, {OTHERS})"
UNIT = "z = F.normalize(net(x), dim=1)"
MASKED = "(z @ z.T).masked_fill(torch.eye(8).bool(), -9) / 0.1"
TIMES = "t = (START + 10 * torch.arange(48)).float(); x = (t[:8, None] % 600) / torch.ones(6)"
PAIRS: list[tuple[str, str, str]] = [
    ("one-class", "loss = F.cross_entropy(net(x), torch.full((8,), step % 4))",
     "loss = F.cross_entropy(net(x), y)"),
    ("softmax-of-rows", "loss = F.nll_loss(F.log_softmax(net(x), dim=0), y)",
     "loss = F.nll_loss(F.log_softmax(net(x), dim=1), y)"),
    ("equal-rows", "loss = F.cross_entropy(net(x).mean(0).expand(8, -1), y)",
     "loss = F.cross_entropy(net(x), y)"),
    ("own-diagonal", f"{UNIT}; loss = {SCORES.replace('SCORES', 'z @ z.T / 0.1')}",
     (f"{UNIT}; s = (z @ z.T).masked_fill(torch.eye(8).bool(), -9); "
      f"loss = {SCORES.replace('SCORES', 's / 0.1')}")),
    ("coarse-numbers", f"{TIMES.replace('START', '1_700_000_000')}; loss = net(x).square().mean()",
     f"{TIMES.replace('START', '0')}; loss = net(x).square().mean()"),
]  # fmt: skip


def codes(body: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    file = folder / "train.py"
    file.write_text(f"{HEAD}    {body}{TAIL}", "utf-8")
    capsys.readouterr()
    main(["check", "--format", "json", str(file)])
    document = json.loads(capsys.readouterr().out)
    return [each["code"] for each in document["findings"] if each["severity"] != "info"]


@pytest.mark.parametrize(("code", "wrong", "right"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_data_that_cannot_teach_are_told(
    code: str, wrong: str, right: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code in codes(wrong, tmp_path, capsys)
    assert code not in codes(right, tmp_path, capsys)
