"""Programs whose objects cannot be read, or may be read but not asked: names are found around them,
and no command ends the program."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.forking import run_gradstep, run_python

PROGRAM = """
import asyncio
import {torch} as torch


class Meta(type):
    def __getattr__(cls, name):
        raise RuntimeError(f"class asked for {{name}}")


class Strange(metaclass=Meta):
    pass


class Proxy:
    # as those of web frameworks, outside of a request
    __slots__ = ()

    @property
    def __class__(self):
        raise RuntimeError("no object is bound")

    def __getattribute__(self, name):
        raise RuntimeError(f"no object is bound: {{name}}")


class Listing(list):
    def __getitem__(self, index):
        raise RuntimeError("a list that refuses")


class Mapping(dict):
    def items(self):
        raise RuntimeError("a dictionary that refuses")


class Optimizer:
    @property
    def param_groups(self):
        raise RuntimeError("no groups yet")

    def zero_grad(self):
        pass


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no text")

    def __hash__(self):
        return 1


class Scale(torch.nn.Module):
    def forward(self, x):
        return x * 2


class Closed(torch.nn.Module):
    def named_modules(self, *args, **kwargs):
        raise RuntimeError("closed")

    def named_parameters(self, *args, **kwargs):
        yield "a", torch.ones(1)
        raise RuntimeError("closed")

    def forward(self, x):
        return x + 1


class Holder:
    def __init__(self, net):
        self.proxy, self.strange, self.model = Proxy(), Strange(), net
        self.__dict__[3] = net


class Net(torch.nn.Module):
    def __init__(self):
        Scale()(torch.ones(3))  # called while self is no module yet
        super().__init__()
        self.__dict__["proxy"] = Proxy()
        self.parts = [Closed(), Scale()]
        self.linear = torch.nn.Linear(3, 1)

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return self.linear(x)


def step(leaf):
    with torch.no_grad():
        leaf.sub_(leaf.grad)


async def main():
    half = torch.nn.Module.__new__(Net)
    strange, proxy, listing, mapping = Strange(), Proxy(), Listing([1]), Mapping(a=1)
    optimizer, keyed = Optimizer(), {{Unprintable(): torch.ones(1)}}
    globals()[7] = net = Net()
    holder = Holder(net)
    base = torch.ones(2, requires_grad=True)
    base.register_post_accumulate_grad_hook(step)
    one, other = base.split(1)  # which tell their place in the graph no more after the step
    (net(torch.ones(2, 3)).sum() + (one * other).sum()).backward()
    print(net.linear.weight.grad.sum().item())


asyncio.run(main())
"""
NEEDS_TORCH = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
)
COMMANDS = (
    "render --call last -o picture.json", "render --call last --values -o picture.json",
    "film --call last -o film.html", "check --call last", "check --call last --all",
    "why train.py linear.weight", "debug --batch --ex continue", "debug --fail-on nan",
)  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "library", ["autograd_core", pytest.param("torch", marks=[pytest.mark.torch, NEEDS_TORCH])]
)
def test_no_object_of_the_program_keeps_it_from_being_shown(
    command: str, library: str, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.format(torch=library), "utf-8")
    words = command if "train.py" in command else f"{command} train.py"
    plain = run_python(["train.py"], tmp_path)
    assert plain.returncode == 0, plain.stderr
    done = run_gradstep(words.split(), tmp_path)
    assert "Traceback" not in done.stderr
    assert "not shown" not in done.stderr
    assert plain.stdout.strip() in done.stdout
    assert done.returncode == 0, done.stderr
