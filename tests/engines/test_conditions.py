"""Conditions over many calls: found where they hold, and cheap where they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forking import run_gradstep, run_python

TORCH = pytest.param("torch", marks=pytest.mark.torch)
each_library = pytest.mark.parametrize("library", ["autograd_core", TORCH])

START = """\
import torch
from torch.utils.checkpoint import checkpoint

w = torch.ones(3, requires_grad=True)
seen = []


class Adds(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        with torch.enable_grad():
            inner = torch.ones(2, requires_grad=True)
            (inner * scale).sin().sum().backward()
        return gradient


for scale in (1.0, 1.0, 1e6, 1.0):
"""
PROGRAMS = {
    # only on the way: what the leaf gets is small again
    "between": "    ((w * 1e-6).sin() * scale).sum().backward()",
    "sum": "    y = w.sin(); (y * scale * 0.6 + y * scale * 0.6).sum().backward()",
    "leaf": "    w.grad = None; (w * scale).sum().backward()",
    "a leaf that has a gradient": "    (w * scale).sum().backward()",
    "by a hook": "    y = w.sin(); y.register_hook(lambda g: g * scale); (y * 1).sum().backward()",
    "hidden by a hook": "    y = w.sin(); y.register_hook(lambda g: g / g)\n"
    "    (y * scale).sum().backward()",
    "a leaf's hook": "    v = torch.ones(3, requires_grad=True); v.register_hook(lambda g: g / g)\n"
    "    (v.sin() * scale).sum().backward()",
    "an optimizer in backward": "    v = torch.ones(3, requires_grad=True)\n"
    "    v.register_post_accumulate_grad_hook(lambda p: setattr(p, 'grad', None))\n"
    "    (v.sin() * scale).sum().backward()",
    "a pass inside": "    Adds.apply(w.sin()).sum().backward()",
    "a pass in a checkpoint": "    checkpoint(lambda v: (v * 1e-6).sin() * scale, w.sin(),"
    " use_reentrant=True).sum().backward()",
    "double precision": "    (w.double() * scale).sum().backward()",
    "half precision": "    (w.bfloat16() * scale).sum().backward()",
    "by grad": "    torch.autograd.grad((w * scale).sum(), w)",
    "twice": "    loss = (w * scale).sum(); loss.backward(retain_graph=True); loss.backward()",
}


def debug(folder: Path, *options: str) -> tuple[int, str, str]:
    run = run_gradstep(["debug", "--batch", *options, "train.py"], folder)
    return run.returncode, run.stdout, run.stderr


def write(folder: Path, text: str, library: str = "torch") -> None:
    """Write a program for PyTorch; for the core, if that is the ``library``."""
    pytest.importorskip(library, reason="PyTorch is not installed")
    if library != "torch":
        if "bfloat16" in text:
            pytest.skip("the core has no bfloat16")
        text = text.replace("import torch\n", f"import {library} as torch\n")
        text = text.replace("from torch.", f"from {library}.")
    (folder / "train.py").write_text(text, "utf-8")


@pytest.mark.sampled(3)
@each_library
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_gradient_of_any_kind_is_found(program: str, library: str, tmp_path: Path) -> None:
    write(tmp_path, f"{START}{PROGRAMS[program]}\n    print(scale)\n", library)
    # as a session finds it: the second condition has to be asked of each gradient itself
    found = debug(tmp_path, "--fail-on", "rms > 1e5")
    same = debug(tmp_path, "--fail-on", "ratio > 1e99 or rms > 1e5")
    assert found[:2] == (5, "1.0\n1.0\n"), found[2]
    told, again = (
        [line.partition(" (--fail-on")[0] for line in err.splitlines() if "ran twice" not in line]
        for *_, err in (found, same)
    )
    assert told == again
    assert ("call 5:" if program == "twice" else "call 3:") in told[0]


@pytest.mark.sampled(3)
@each_library
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_in_which_nothing_is_found_ends_as_plainly(
    program: str, library: str, tmp_path: Path
) -> None:
    write(tmp_path, f"{START}{PROGRAMS[program]}\n    print(scale, w.grad)\n", library)
    plain = debug(tmp_path, "--fail-on", "nan")
    assert plain[0] == 0
    assert debug(tmp_path, "--fail-on", "rms > 1e9")[:2] == plain[:2]
    place = debug(tmp_path, "--grad", "--break", "if rms > 1e9", "--ex", "continue --calls")
    assert place[:2] == (0, f"(gradstep) continue --calls\n{plain[1]}")


@pytest.mark.torch
def test_a_condition_that_holds_elsewhere_does_not_stop(tmp_path: Path) -> None:
    text = f"{START}    w.register_hook(seen.append); (w * scale).sin().sum().backward()\n"
    write(tmp_path, f"{text}print(len(seen))")
    code, out, err = debug(tmp_path, "--break", "sum if rms > 2", "--ex", "continue --calls")
    assert code == 0, err
    assert "none of them stopped" in err
    assert "ran twice" not in err
    assert out.splitlines()[-1] == str(1 + 2 + 3 + 4)  # a hook more in each call


@pytest.mark.torch
def test_a_dispatch_mode_sees_no_copy_of_a_gradient_that_a_leaf_takes_over(tmp_path: Path) -> None:
    text = """\
import torch
from torch.utils._python_dispatch import TorchDispatchMode
class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        print(op)
        return op(*args, **(kwargs or {}))
loss = torch.ones(3, requires_grad=True).exp().sum()
with Mode():
    loss.backward()
"""
    write(tmp_path, text)
    plain = run_python(["train.py"], tmp_path).stdout
    assert "detach" in plain
    for commands in (["--fail-on", "nan"], ["--ex", "next 2", "--ex", "info node"]):
        lines = debug(tmp_path, *commands, "--ex", "continue")[1].splitlines()
        assert [line for line in lines if line.startswith("aten.")] == plain.splitlines()


@each_library
def test_a_place_is_found_in_the_call_in_which_its_condition_holds(
    library: str, tmp_path: Path
) -> None:
    text = f"{START}    w.grad = None; (w * scale).sin().sum().backward(); print(scale)\n"
    write(tmp_path, text, library)
    code, out, _ = debug(
        tmp_path, "--break", "mul if rms > 1e4", "--break", "w if rms > 1e5",
        "--ex", "continue --calls", "--ex", "info leaves", "--ex", "info calls w",
    )  # fmt: skip
    assert code == 0
    assert out.splitlines()[-3].split() == ["call", "2", "not", "recorded"], out
    assert "backward() call 3" in out
    assert out.index("1.0\n1.0\n") < out.index("info leaves") < out.index("1000000.0\n1.0\n")


@each_library
def test_undefined_gradients_are_found(library: str, tmp_path: Path) -> None:
    text = """\
import torch

class Drops(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return None

for step in range(3):
    w = torch.ones(3, requires_grad=True)
    (Drops.apply(w * 2) + w if step else w * 3).sum().backward()
"""
    write(tmp_path, text, library)
    code, _, err = debug(tmp_path, "--fail-on", "undefined")
    assert code == 5
    assert "call 2: out of #3 drops:1" in err
