"""Findings on what optimizers, schedulers, clipping and modules do, each with a healthy twin."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gradstep.contract.events import Cleared, Events, Passed, Stepped
from gradstep_tui.cli import main

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]  # those of the programs

START = """\
import copy
import torch
from torch import nn
from torch.optim import lr_scheduler
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.5)
"""
LOOP = """\
for step in range(24):
    x = torch.randn(16, 4)
    loss = (net(x).squeeze(1) - x[:, 0]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
CLIP = "    nn.utils.clip_grad_norm_(net.parameters(), 0.5)\n"
NORM = "net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1))\n"
GROUPS = "opt = torch.optim.SGD([{'params': net.parameters(), 'KEY': 0.1}], lr=0.2)\n"
OWN = """\
class Heavy(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if "speed" not in state:
                    state["speed"] = torch.zeros_like(p)
                speed = state["speed"]
                speed = 0.9 * speed + p.grad
                p.sub_(0.01 * speed)
opt = Heavy(net.parameters())
"""


def scheduled(made: str, *, inside: bool = True) -> str:
    return f"{START}sched = lr_scheduler.{made}\n{LOOP}{'    ' * inside}sched.step()\n"


PROGRAMS: dict[str, tuple[str, str, str, str, str]] = {
    # code and line, what the text has, the program, and its healthy twin
    "a prefix": (
        "not-loaded", "train.py:9", "removeprefix(\"module.\")",
        START + "saved = {f'module.{k}': v for k, v in copy.deepcopy(net.state_dict()).items()}\n"
        "net.load_state_dict(saved, strict=False)\n" + LOOP,
        START + "saved = {f'module.{k}': v for k, v in copy.deepcopy(net.state_dict()).items()}\n"
        "net.load_state_dict({k[7:]: v for k, v in saved.items()}, strict=False)\n" + LOOP,
    ),
    "a new head": (
        "not-loaded", "train.py:9", "loaded nothing for 2.weight and 2.bias",
        START + "saved = {k.replace('2.', 'old.2.'): v for k, v in net.state_dict().items()}\n"
        "net.load_state_dict(saved, strict=False)\n" + LOOP,
        START + "saved = {k: v for k, v in net.state_dict().items() if k[0] == '0'}\n"
        "net.load_state_dict(saved, strict=False)\n" + LOOP,
    ),
    "the best state": (
        "loads-itself", "train.py:15", "24 steps changed them since",
        START + "best = net.state_dict()\n" + LOOP + "net.load_state_dict(best)\n",
        START + "best = copy.deepcopy(net.state_dict())\n" + LOOP + "net.load_state_dict(best)\n",
    ),
    "clipped too early": (
        "clipping", "train.py:12", "before backward()",
        START + LOOP.replace("    loss.b", CLIP + "    loss.b"),
        START + LOOP.replace("    opt.s", CLIP + "    opt.s"),
    ),
    "clipped too late": (
        "clipping", "train.py:14", "after step()",
        START + LOOP + CLIP,
        START + LOOP.replace("    opt.s", CLIP + "    opt.s"),
    ),
    "parameters that are used up": (
        "clipping", "train.py:15", "an iterator that has ended",
        START + "params = net.parameters()\nlist(params)\n"
        + LOOP.replace("    opt.s", CLIP.replace("net.parameters()", "params") + "    opt.s"),
        START + "params = list(net.parameters())\n"
        + LOOP.replace("    opt.s", CLIP.replace("net.parameters()", "params") + "    opt.s"),
    ),
    "parameters of another net": (
        "clipping", "train.py:14", "none of which has a gradient",
        START + "other = copy.deepcopy(net)\n"
        + LOOP.replace("    opt.s", CLIP.replace("net.p", "other.p") + "    opt.s"),
        START + "other = copy.deepcopy(net)\n" + LOOP.replace("    opt.s", CLIP + "    opt.s"),
    ),
    "never stepped": (
        "schedule", "train.py:8", "its step() never runs",
        START + "sched = lr_scheduler.StepLR(opt, 10)\n" + LOOP,
        scheduled("StepLR(opt, 10)"),
    ),
    "another optimizer": (
        "schedule", "train.py:8", "an optimizer that never steps",
        scheduled("StepLR(opt, 10)\nopt = torch.optim.SGD(net.parameters(), lr=0.05)"),
        scheduled("StepLR(opt, 10)"),
    ),
    "a loss for an epoch": (
        "schedule", "train.py:15", "takes its argument as the number of the epoch",
        scheduled("StepLR(opt, 10)").replace("sched.step()", "sched.step(loss.item())"),
        scheduled("ReduceLROnPlateau(opt)").replace("sched.step()", "sched.step(loss.item())"),
    ),
    "one cycle once an epoch": (
        "schedule", "train.py:15", "made for 24 steps, and was stepped 3 times",
        scheduled("OneCycleLR(opt, 0.5, total_steps=24)")
        .replace("    sched", "    if step % 8 == 7: sched"),
        scheduled("OneCycleLR(opt, 0.5, total_steps=25)"),
    ),
    "a cosine once a batch": (
        "schedule", "train.py:15", "up and down 4 times",
        scheduled("CosineAnnealingLR(opt, 3)"), scheduled("CosineAnnealingLR(opt, 24)"),
    ),
    "an exponential once a batch": (
        "schedule", "train.py:15", "within 6 of 24 steps",
        scheduled("ExponentialLR(opt, 0.3)"), scheduled("ExponentialLR(opt, 0.8)"),
    ),
    "a speed that is lost": (
        "lost-state", "train.py:19", "never stored",
        START + OWN + LOOP,
        START + OWN.replace("                speed = 0.9 * speed + p.grad", "\
                speed.mul_(0.9).add_(p.grad)") + LOOP,
    ),
    "two optimizers of one leaf": (
        "stepped-twice", "train.py:15", "in opt and in head",
        START + "head = torch.optim.SGD(net[2].parameters(), lr=0.01)\n" + LOOP
        + "    head.step()\n",
        START.replace("net.p", "net[0].p")
        + "head = torch.optim.SGD(net[2].parameters(), lr=0.01)\n"
        + LOOP.replace("opt.zero", "net.zero") + "    head.step()\n",
    ),
    "an option of no optimizer": (
        "misspelt", "train.py:8", "'lr' of its groups is meant",
        START + "opt.lr = 0.01\n" + LOOP,
        START + "opt.param_groups[0]['lr'] = 0.01\n" + LOOP,
    ),
    "a group of another library": (
        "misspelt", "train.py:8", "write 'lr'",
        START + GROUPS.replace("KEY", "learning_rate") + LOOP,
        START + GROUPS.replace("KEY", "lr") + LOOP,
    ),
    "a frozen norm": (
        "norm-moves", "train.py:11", "they are in training mode|it is in training mode",
        START + NORM + "body, head = net[:2], nn.Linear(8, 1)\n"
        "opt = torch.optim.SGD(head.parameters(), lr=0.1)\nbody.requires_grad_(False)\n"
        + LOOP.replace("net(x)", "head(body(x))"),
        START + NORM + "body, head = net[:2], nn.Linear(8, 1)\n"
        "opt = torch.optim.SGD(head.parameters(), lr=0.1)\nbody.requires_grad_(False).eval()\n"
        + LOOP.replace("net(x)", "head(body(x))"),
    ),
    "a momentum of another library": (
        "norm-momentum", "train.py:8", "momentum=0.99",
        START + NORM.replace("1d(8)", "1d(8, momentum=0.99)")
        + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n" + LOOP,
        START + NORM + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n" + LOOP,
    ),
}  # fmt: skip


@pytest.fixture
def check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str], list[str]]:
    def checked(source: str) -> list[str]:
        program = tmp_path / "train.py"
        program.write_text(source)
        main(["check", "--format", "json", str(program)])
        document = json.loads(capsys.readouterr().out)
        assert "what gradstep failed at" not in str(document["not_looked_at"])
        return [
            f"{each['code']} train.py:{each['at'] and each['at']['line']} {each['what']} "
            f"{each['remedy']}"
            for each in document["findings"]
            if each["severity"] != "info"
        ]

    return checked


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_objects_do_is_told(name: str, check: Callable[[str], list[str]]) -> None:
    code, place, text, program, _ = PROGRAMS[name]
    found = check(program)
    (told,) = [each for each in found if each.startswith(f"{code} ")]
    assert told.startswith(f"{code} {place} ")
    assert any(each in told for each in text.split("|"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_told_of_the_healthy_twin(name: str, check: Callable[[str], list[str]]) -> None:
    assert check(PROGRAMS[name][4]) == []


ONCE = """\
class Asked:
    def __iter__(self):
        print("asked")
        return net.parameters()
for given in (Asked(), net.parameters(), (p for p in net.parameters()), net[0].weight, []):
    print(nn.utils.clip_grad_norm_(given, 0.5))
"""
STATES = """\
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode():
    nn.Linear(3, 3).load_state_dict(nn.Linear(3, 3).state_dict())
with torch.device("meta"):
    bare = nn.Linear(3, 3)
bare.load_state_dict(nn.Linear(3, 3).state_dict(), assign=True)
nn.LazyLinear(3).load_state_dict(nn.LazyLinear(3).state_dict())
sparse = nn.Linear(3, 3)
sparse.register_buffer("links", torch.eye(3).to_sparse())
sparse.load_state_dict(sparse.state_dict())
print([tuple(p.shape) for p in bare.parameters()])
"""


@pytest.mark.parametrize("program", [ONCE, STATES])
def test_what_is_noted_asks_nothing_twice_and_fails_on_no_kind_of_tensor(
    program: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"{START}{LOOP}{program}")
    exec(compile(path.read_text(), str(path), "exec"), {"__name__": "plain"})
    plain, _ = capfd.readouterr()
    main(["check", "-q", str(path)])
    watched, said = capfd.readouterr()
    assert "not shown" not in said
    assert watched.startswith(plain)
    assert plain


WRAPPED = """\
class Wrapper(torch.optim.Optimizer):
    def __init__(self, inner):
        self.inner = inner
    param_groups = property(lambda self: self.inner.param_groups)
    def step(self, closure=None):
        self.inner.step(closure)
    def zero_grad(self, set_to_none=True):
        self.inner.zero_grad(set_to_none)
opt = Wrapper(opt)
"""
MADE = """\
class Rates:
    def __init__(self, schedule):
        self.lrs = [0.05 * 0.99 ** count for count in range(24)]
sched = Rates(lr_scheduler.ExponentialLR(opt, 0.99))
"""


@pytest.mark.parametrize(
    "program",
    [
        f"{START}{WRAPPED}sched = lr_scheduler.ExponentialLR(opt, 0.99)\n{LOOP}    sched.step()\n",
        START + MADE + LOOP.replace(
            "    opt.step()\n",
            "    opt.step()\n    opt.param_groups[0]['lr'] = sched.lrs[step]\n",
        ),
    ],
)  # fmt: skip
def test_a_framework_may_wrap_an_optimizer_or_set_its_rate(
    program: str, check: Callable[[str], list[str]]
) -> None:
    assert check(program) == []


def test_events_of_several_kinds_end_where_one_kind_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gradstep.contract.events.MOST", 3)
    events = Events()
    for _ in range(5):  # passes that accumulate, and a step for each two
        events.add(Passed, index=1, leaves=frozenset())
        events.add(Passed, index=2, leaves=frozenset())
        events.add(Stepped, leaves=frozenset(), rates=())
    assert [event.number for event in events.of(Passed, Stepped)] == [0, 1, 2, 3]
    assert [event.number for event in events.of(Stepped)] == [2, 5, 8]
    assert events.is_full(Passed)
    assert not events.is_full(Cleared)
