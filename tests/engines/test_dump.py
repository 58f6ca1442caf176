"""``dump``: tensors as files of NumPy, bit for bit, on both engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.console.session import Session
from tests.both import on_pytorch


def test_a_file_has_every_bit(torch: Any, tmp_path: Path) -> None:
    w = torch.tensor([1 / 3, float("nan"), -0.0, 1e-40], requires_grad=True)
    session = Session((w * w).sum(), names={"w": w})
    session.jump(session.length)
    wanted = np.asarray(session.leaf(session.length - 1).now.array)  # type: ignore[union-attr]
    for tensor in ("w.grad", f"#{session.length}", "mul:1"):
        file = tmp_path / f"{tensor[0]}.npy"
        reply = session.reply(f"dump {tensor} {file}")
        assert not reply.error, reply.text
        assert str(file) in reply.text
    assert np.load(tmp_path / "w.npy").tobytes() == wanted.tobytes()
    assert np.load(tmp_path / "#.npy").tobytes() == wanted.tobytes()
    assert np.load(tmp_path / "m.npy").tolist() == [1.0, 1.0, 1.0, 1.0]


@on_pytorch
def test_a_dtype_that_numpy_lacks_is_written_in_one_that_holds_it(
    torch: Any, tmp_path: Path
) -> None:
    w = torch.tensor([1.5, 2.5], dtype=torch.bfloat16, requires_grad=True)
    session = Session((w * 3).sum(), names={"w": w})
    session.jump(session.length)
    reply = session.reply(f"dump w.grad {tmp_path / 'w.npy'}")
    assert "bfloat16 as float32" in reply.text
    assert np.load(tmp_path / "w.npy").tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("dump", "dump TENSOR FILE.npy"),
        ("dump in", "write dump TENSOR FILE.npy"),
        ("dump in g.txt", "write dump TENSOR FILE.npy"),
        ("dump mul:1 g.npy", "no gradient has arrived at mul:1"),
        ("dump in /nowhere/g.npy", "cannot write /nowhere/g.npy (no such file or directory)"),
        ("dump nothing g.npy", "nothing"),
    ],
)
def test_what_cannot_be_written_is_said(torch: Any, line: str, said: str) -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    reply = Session((w * w).sum(), names={"w": w}).reply(line)
    assert reply.error
    assert said in reply.text
