"""What stays the same over calls, or follows too closely, on programs of either library."""

from __future__ import annotations

import types
from pathlib import Path

import pytest

from gradstep_tui.cli import main

NOISE = """
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
net = nn.Linear(6, 6)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
data = torch.randn(48, 6)
ONCE
for step in range(6):
    x = data[8 * step : 8 * step + 8]
    ALWAYS
    loss = (net(x + noise) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
DRAW = "noise = torch.randn(8, 6)"


@pytest.mark.parametrize(
    ("once", "always", "is_told"),
    [(DRAW, "pass", True), ("pass", DRAW, False), ("noise = torch.ones(8, 6)", "pass", False)],
)
def test_noise_that_is_drawn_once_is_told(
    torch: types.ModuleType,
    once: str,
    always: str,
    is_told: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = NOISE.replace("ONCE", once).replace("ALWAYS", always).replace("LIBRARY", torch.__name__)
    (tmp_path / "train.py").write_text(text)
    main(["check", str(tmp_path / "train.py")])
    assert ("[same-noise]" in capsys.readouterr().out) == is_told


FOLLOWER = """
import copy
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), NORM(8), nn.ReLU(), nn.Linear(8, 2))
teacher = copy.deepcopy(net).eval()
for p in teacher.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(8):
    x = torch.randn(16, 4)
    loss = (net(x) - teacher(x)).square().mean() + (net(x)[:, 0] - x[:, 0]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    UPDATE
"""
MOVE = """with torch.no_grad():
        for slow, fast in zip(teacher.parameters(), net.parameters()):
            slow.mul_(KEPT).add_(fast, alpha=1 - KEPT)"""
COPY = """if step % EVERY == EVERY - 1:
        teacher.load_state_dict(net.state_dict())"""


@pytest.mark.parametrize(
    ("norm", "update", "told"),
    [
        ("nn.LayerNorm", MOVE.replace("KEPT", "0.99"), ""),
        ("nn.LayerNorm", MOVE.replace("KEPT", "0.01"), "takes 0.99 of the new weights of net"),
        ("nn.BatchNorm1d", MOVE.replace("KEPT", "0.99"), "statistics of its batch norms stay"),
        ("nn.LayerNorm", COPY.replace("EVERY", "100"), "teacher has not changed in 8 calls"),
        ("nn.LayerNorm", COPY.replace("EVERY", "3"), ""),
        ("nn.LayerNorm", "pass", ""),  # a teacher that never learns
    ],
)
def test_a_network_that_does_not_follow_as_it_should_is_told(
    torch: types.ModuleType,
    norm: str,
    update: str,
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = (
        FOLLOWER.replace("NORM", norm).replace("UPDATE", update).replace("LIBRARY", torch.__name__)
    )
    (tmp_path / "train.py").write_text(text)
    main(["check", str(tmp_path / "train.py")])
    printed = capsys.readouterr().out
    assert ("[follower]" in printed) == bool(told)
    assert told in printed
