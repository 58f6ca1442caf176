"""Findings on weights, masks, labels, activations, rates and modes that do not do what they are
for, each with a healthy twin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradstep_tui.cli import main

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]  # those of the programs

HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
net = nn.Linear(6, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(4):
    x = torch.rand(8, 6)
    y = torch.arange(8) % 4
    w = torch.linspace(0.1, 1, 8)
    mask = (torch.arange(4) < 3).float().expand(8, 4)
    tags = F.one_hot(y, 4).float()
"""
TAIL = """
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
CLASS = """\
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.act = nn.ReLU()
        self.drop = nn.Dropout(0.5)
        self.out = nn.Linear(8, 2)
    def forward(self, x):
        return self.out(CALL)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(4):
    loss = net(torch.rand(8, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
NORM = """\
import torch
from torch import nn
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(3):
    net.train()
    for step in range(12):
        loss = net(torch.rand(8, 4)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    MODE
    with torch.no_grad():
        net(torch.rand(8, 4))
"""
RATE = """\
import torch
from torch import nn
net = nn.Linear(4, 1)
old = torch.optim.SGD(net.parameters(), lr=1e-5)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
opt.load_state_dict(old.state_dict())
AFTER
for step in range(24):
    loss = net(torch.rand(8, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def of(loss: str) -> str:
    return f"{HEAD}    {loss}{TAIL}"


def called(call: str) -> str:
    return CLASS.replace("CALL", call)


PROGRAMS = {
    # the code, and what the text has; the program, and its twins
    "weights of a mean": (
        "weights-cancel", "w has a weight for each of 8 rows",
        of("loss = (F.cross_entropy(net(x), y) * w).mean()"),
        of('loss = (F.cross_entropy(net(x), y, reduction="none") * w).mean()'),
        of("loss = (F.cross_entropy(net(x), y) * w[:3]).mean()"),
        of("loss = (F.cross_entropy(net(x), y) * torch.full((8,), 0.5)).mean()"),
    ),
    "a mask before a softmax": (
        "masked-by-zero", "what is masked has",
        of("loss = (torch.softmax(net(x) * mask, 1) * tags).sum(1).log().neg().mean()"),
        of('loss = torch.softmax(net(x).masked_fill(mask == 0, -1e9), 1)[:, 0].mean()'),
        of("p = torch.softmax(net(x) * mask, 1) * mask; loss = (p / p.sum(1, True))[:, 0].mean()"),
        of("loss = torch.softmax(net(x) * torch.rand(8, 4), 1)[:, 0].mean()"),
    ),
    "a mean of what is masked": (
        "masked-mean", "m is 0 at 50% of them",
        of("m = (torch.arange(8) < 4).float()\n    loss = (net(x).square().sum(1) * m).mean()"),
        of("m = (torch.arange(8) < 4).float()\n"
           "    loss = (net(x).square().sum(1) * m).sum() / m.sum()"),
        of("loss = (net(x).square().sum(1) * w).mean()"),
    ),
    "tags for cross_entropy": (
        "many-hot", "4 of 8 rows of the targets tags",
        of("tags[4:, 0] = tags[4:, 1] = 1; loss = F.cross_entropy(net(x), tags)"),
        of("loss = F.cross_entropy(net(x), tags)"),
        of("tags[4:, :2] = 0.5; tags[4:, 2:] = 0; loss = F.cross_entropy(net(x), tags)"),
        of("tags[4:, :2] = 1; p = F.log_softmax(net(x), 1)\n"
           "    loss = -(p * tags).sum() / tags.sum()"),
    ),
    "labels 0 and 1": (
        "other-labels", "4 of 8 labels same are neither 1 nor -1",
        of("same = (y < 2).float(); loss = F.cosine_embedding_loss(net(x), tags, same)"),
        of("same = 2 * (y < 2).float() - 1; loss = F.cosine_embedding_loss(net(x), tags, same)"),
    ),
    "a square in float16": (
        "overflow", "the result of pow is too large",
        of("h = (900 * net(x)).half(); loss = (h * h.square().sum(1, True).rsqrt()).mean()"),
        of("h = 900 * net(x); loss = (h * h.square().sum(1, True).rsqrt()).mean()"),
    ),
    "an activation": (
        "unapplied", "no line reads self.act, a ReLU", called("self.drop(self.hidden(x))"),
        called("self.drop(self.act(self.hidden(x)))"), called("torch.tanh(self.hidden(x))"),
    ),
    "validation in training mode": (
        "no-eval", "no line calls eval()",
        NORM.replace("MODE", "pass"), NORM.replace("MODE", "net.eval()"),
    ),
    "a rate of a state": (
        "schedule", "all of 24 steps after it use that", RATE.replace("AFTER", ""),
        RATE.replace("AFTER", "opt.param_groups[0]['lr'] = 0.1"),
        RATE.replace("1e-5", "0.05").replace("AFTER", ""),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_has_no_effect_is_told(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, says, wrong, *twins = PROGRAMS[name]
    for number, program in enumerate((wrong, *twins)):
        path = Path(f"{name.replace(' ', '_')}_{number}.py")
        path.write_text(program)
        main(["check", "--format", "json", str(path)])
        findings = json.loads(capsys.readouterr().out)["findings"]
        told = {each["code"]: each["what"] for each in findings}
        assert (code in told) == (number == 0), (program, told)
        assert number or says in told[code]
