"""The private names of PyTorch that are used: that they are there, and what happens without."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from autograd_core.engines.attach import attached  # noqa: E402
from autograd_core.engines.pytorch import private  # noqa: E402  # imports torch

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("name", [*private.NAMES, *private.NODE_ATTRIBUTES], ids=lambda n: n.path)
def test_pytorch_still_has_each_private_name(name: private.PrivateName) -> None:
    assert name not in private.missing(), f"without {name.path}, {name.lost}"


def test_no_file_but_private_uses_a_private_name() -> None:
    last = {name.path.rpartition(".")[2] for name in private.NAMES}
    for file in Path(private.__file__).parent.glob("*.py"):
        if file.name != "private.py":
            text = file.read_text("utf-8")
            assert not [name for name in last if f".{name}" in text], file


def test_a_name_that_is_gone_is_told_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr(torch.autograd.graph, "_engine_run_backward")
    x = torch.ones(3, requires_grad=True)
    with attached():
        (x * 2).sum().detach()
    said = f"gradstep: PyTorch {torch.__version__} has no autograd.graph._engine_run_backward: "
    assert capsys.readouterr().err == f"{said}backward() calls are not intercepted\n"
