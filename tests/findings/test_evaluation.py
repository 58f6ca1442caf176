"""Modules that are evaluated otherwise than they are trained, and padding, on programs of
PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from gradstep_tui.cli import main  # noqa: E402

pytestmark = pytest.mark.torch

PROGRAM = """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(3):
    for step in range(4):
        x = torch.randint(0, 256, (16, 6)).float()
        loss = (net(TRAINED) - x[:, :1] / 255).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    BEFORE
    with torch.no_grad():
        valid = torch.randint(0, 256, (16, 6)).float()
        print(net(EVALUATED).mean().item())
    AFTER
"""


@pytest.mark.parametrize(
    ("trained", "evaluated", "before", "codes"),
    [
        ("x / 255", "valid / 255", "net.eval()", []),
        ("x / 255", "valid", "net.eval()", ["other-range"]),
        ("x / 64 - 2", "valid / 255", "net.eval()", ["other-range"]),
        ("x / 255", "valid / 200", "net.eval()", []),
        ("x / 255", "valid / 255", "pass", ["dropout-on"]),
        ("x / 255", "valid[:1]", "net.eval()", []),  # too few numbers
    ],
)
def test_evaluation_that_is_not_like_training_is_told(
    trained: str,
    evaluated: str,
    before: str,
    codes: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = PROGRAM.replace("TRAINED", trained).replace("EVALUATED", evaluated)
    after = before.replace("eval", "train")
    (tmp_path / "train.py").write_text(text.replace("BEFORE", before).replace("AFTER", after))
    main(["check", str(tmp_path / "train.py")])
    printed = capsys.readouterr().out
    assert [code for code in ("other-range", "dropout-on") if f"[{code}]" in printed] == codes


def test_a_recording_tells_of_another_range(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PROGRAM.replace("TRAINED", "x / 255").replace("EVALUATED", "valid")
    text = text.replace("BEFORE", "net.eval()").replace("AFTER", "net.train()")
    (tmp_path / "train.py").write_text(text)
    main(["record", "-o", str(tmp_path / "run.gsr"), str(tmp_path / "train.py")])
    main(["check", str(tmp_path / "run.gsr")])
    assert "[other-range]" in capsys.readouterr().out


LANGUAGE = """
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
torch.manual_seed(0)
net = nn.Sequential(nn.Embedding(9, 8), nn.Linear(8, 9))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
loss_of = nn.CrossEntropyLoss(OPTION)
for step in range(8):
    rows = [torch.randint(1, 9, (LENGTH,)) for _ in range(8)]
    x = pad_sequence(rows, batch_first=True)
    loss = loss_of(net(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("option", "length", "is_told"),
    [
        ("", "int(torch.randint(3, 9, ()))", True),
        ("ignore_index=0", "int(torch.randint(3, 9, ()))", False),
        ("torch.arange(9).gt(0).float()", "int(torch.randint(3, 9, ()))", False),
        ("", "8", False),
    ],
)
def test_padding_that_a_loss_counts_is_told(
    option: str,
    length: str,
    is_told: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = LANGUAGE.replace("OPTION", option).replace("LENGTH", length)
    (tmp_path / "train.py").write_text(text)
    main(["check", str(tmp_path / "train.py")])
    assert ("[padding-counted]" in capsys.readouterr().out) == is_told
