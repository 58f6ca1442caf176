"""``gradstep check`` on whole runs: what only all calls together show, on both engines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gradstep.findings.explanations import MEANINGS
from gradstep.findings.whole_run.watch import Watch
from gradstep_tui import output
from gradstep_tui.cli import main
from gradstep_tui.commands import check_run
from tests.both import TORCH
from tests.tui.conftest import Gradstep

Check = Callable[..., tuple[int, str]]

START = """\
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Dropout(0.2), nn.Linear(6, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(16, 4)
y = x[:, :1]
"""
LOOP = """\
for step in range(12):
    loss = (net(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
HEALTHY = START + LOOP
PROGRAMS = {
    "stale-grad": (HEALTHY.replace("    opt.zero_grad()\n", ""), "train.py:10"),
    "unchanged": (
        HEALTHY.replace("    opt.zero_grad()\n", "").replace(
            "ward()\n", "ward()\n    opt.zero_grad()\n"
        ),
        "zero_grad() in line 11 clears them before step()",
    ),
    "unread": (
        HEALTHY + "    break\n",
        "this break ends the loop in its first round",
    ),
    "one-for-all": (
        HEALTHY.replace("nn.Sequential(nn", "nn.Sequential(*[nn.Linear(4, 4)] * 2, nn"),
        "all of its items are that layer",
    ),
    "setting": (
        HEALTHY.replace("Dropout(0.2)", "Dropout(0.9)"),
        "p=0.9 of net.2 (Dropout) is the share that is dropped",
    ),
    "padding-counted": (
        START.replace("nn.Linear(6, 1)", "nn.Linear(6, 5)").replace(
            "y = x[:, :1]",
            "y = torch.tensor([[1, 2, 3, 4], [3, 0, 0, 0], [2, 4, 0, 0], [1, 3, 2, 0]])",
        )
        + LOOP.replace("(net(x) - y).square().mean()", "nn.CrossEntropyLoss()(net(x), y.view(-1))"),
        "38% of the targets y are 0, which only fills up rows of different length",
    ),
    "same-noise": (
        HEALTHY.replace("for step", "noise = torch.randn(16, 4)\nfor step")
        .replace("net(x)", "net(x + noise)"),
        "drawn once, before them",
    ),
    "uphill": (
        HEALTHY.replace("opt =", "class Up(torch.optim.SGD):\n    def step(self):\n"
        "        with torch.no_grad():\n            for p in net.parameters():\n"
        "                p.add_(p.grad, alpha=0.05)\nopt =")
        .replace("torch.optim.SGD(net", "Up(net"),
        "each step moves the leaves along their gradients",
    ),
    "input-scale": (
        HEALTHY.replace("y = x[:, :1]", "y = x[:, :1]; x = 1000 * x"),
        "a layer begins with weights for numbers of size 1",
    ),
    "target-scale": (
        HEALTHY.replace("y = x[:, :1]", "y = 1e5 + x[:, :1]")
        .replace("optim.SGD(net.parameters(), lr=0.05)", "optim.Adam(net.parameters(), lr=1e-3)")
        .replace("range(12)", "range(34)"),
        "the targets y are of size 1e5",
    ),
    "norm-of-rows": (
        HEALTHY.replace("nn.Linear(6, 1)", "nn.Linear(6, 3)")
        .replace("net(x) - y).square().mean()", "net(x + 0).norm() - 1).square()"),
        "norm() of [16, 3] is one number for all 16 rows of the batch",
    ),
    "eval-mode": (f"{HEALTHY}    if step == 3: net.eval()\n", "train.py:13"),
    "small-steps": (HEALTHY.replace("lr=0.05", "lr=2e-7"), "train.py:5"),
    "large-steps": (HEALTHY.replace("lr=0.05", "lr=20.0"), "train.py:5"),
    "discarded": (
        HEALTHY.replace("    opt.step()", "    if step % 3 == 2: opt.step()")
        .replace("range(12)", "range(15)"),
        "2 of 3 are cleared before a step uses them",
    ),
    "made-anew": (
        HEALTHY.replace("for step", "def head(h):\n    return nn.Linear(1, 1)(h)\nfor step")
        .replace("net(x)", "head(net(x))"),
        "train.py:9",
    ),
    "collapse": (
        HEALTHY.replace("lr=0.05", "lr=0.1, weight_decay=5.0").replace("range(12)", "range(24)"),
        "its weight decay of 5 is stronger",
    ),
    "out-of-reach": (
        HEALTHY.replace("(net(x) - y).square().mean()", "nn.MSELoss()(net(x).tanh(), 9 * y)"),
        "tanh gives nothing else",
    ),
    "zero-grad": (HEALTHY.replace("(net(x)", "(net(x).round()"), "the derivative of round is 0"),
    "unreached": (
        START.replace(
            "x =", "extra = nn.Linear(2, 2)\nlate = torch.optim.SGD(extra.parameters(), lr=1)\nx ="
        )
        + LOOP,
        "late has them",
    ),
    "untrained": (
        START.replace("x =", "net[3] = nn.Linear(6, 1)\nx =") + LOOP,
        "opt lacks them",
    ),
    "unscaled": (
        START + "class Scaler:\n    def scale(self, loss): return 8 * loss\n"
        "    def unscale_(self, opt):\n        for p in net.parameters(): p.grad /= 8\n"
        "    def step(self, opt): self.unscale_(opt); opt.step()\n"
        "    get_scale = update = None\nscaler = Scaler()\n"
        + LOOP.replace("loss.back", "scaler.scale(loss).back"),
        "nothing divides the gradients by its factor",
    ),
    "vanishing": (
        HEALTHY.replace(
            "nn.Tanh(), ",
            "*[each for _ in range(9) for each in (nn.Sigmoid(), nn.Linear(6, 6))], ",
        ),
        "nodes sigmoid",
    ),
    "misspelt": (
        HEALTHY.replace("x =", "for each in net.parameters(): each.require_grad = True\nx ="),
        "requires_grad is meant",
    ),
    "graph-grows": (
        HEALTHY.replace("for step", "state = torch.zeros(16, 1)\nfor step")
        .replace("(net(x) - y)", "state")
        .replace("    loss =", "    state = 0.5 * state + net(x) - y\n    loss =")
        .replace("backward()", "backward(retain_graph=True)")
        .replace("    opt.step()\n", ""),
        "through state",
    ),
    "softmax-dim": (
        HEALTHY.replace("nn.Linear(6, 1)", "nn.Linear(6, 2), nn.Softmax(dim=0)"),
        "16 samples",
    ),
    "exploding": (HEALTHY.replace("(net(x) - y)", "(1e9 * net(x) - y)"), "gradients explode"),
    "graph-kept": (
        HEALTHY.replace("for step", "history = []\nfor step") + "    history.append(loss)\n",
        "earlier calls are alive, with their graphs, in history",
    ),
    "initialization": (
        HEALTHY.replace("opt =", "for p in net.parameters(): nn.init.constant_(p, 0.1)\nopt =")
        .replace("nn.Dropout(0.2), ", ""),
        "all rows of 0.weight began equal",
    ),
    "target-graph": (
        HEALTHY.replace("(net(x) - y).square().mean()", "nn.MSELoss()(net(x), net(x + 1))"),
        "detach() the target",
    ),
    "own-target": (
        HEALTHY.replace("nn.Linear(6, 1)", "nn.Linear(6, 3)").replace(
            "loss = (net(x) - y).square().mean()",
            "out = net(x); loss = nn.functional.cross_entropy(out, out.argmax(1))",
        ),
        "the targets of nll_loss are what argmax chose among its own scores",
    ),
    "constant-term": (
        HEALTHY.replace("mean()\n", "mean() + 2 * (net(x) > 0).float().mean()\n"),
        "gt() has no derivative",
    ),
    "probabilities": (
        HEALTHY.replace(
            "(net(x) - y).square().mean()",
            "nn.functional.kl_div(net(x).softmax(0), y.softmax(0), reduction='sum')",
        ),
        "use log_softmax() instead of softmax()",
    ),
    "loss-falls": (
        HEALTHY.replace("(net(x) - y).square().mean()", "y.abs().mean() - net(x).sum()")
        .replace("lr=0.05", "lr=0.5"),
        "it has no lower limit",
    ),
    "changed-input": (
        HEALTHY.replace("net(x)", "x + net(h)").replace("nn.Linear(4, 6)", "nn.ReLU(inplace=True), "
        "nn.Linear(4, 6)").replace("x + net(h)", "(h := stem(x)) + net(h)")
        .replace("opt =", "stem = nn.Linear(4, 4)\nopt ="),
        "net changes its input in place, with relu(inplace=True), and add uses that input again",
    ),
    "aliased": (HEALTHY.replace("opt =", "target_net = net\nopt ="), "copy.deepcopy(net)"),
    "equal-leaves": (
        HEALTHY.replace("opt =", "import copy\nother = copy.deepcopy(net)\nopt =")
        .replace("net.parameters()", "[*net.parameters(), *other.parameters()]")
        .replace("net(x) - y", "net(x) * other(x) - y"),
        "begin exactly equal",
    ),
    "no-leaf": (
        START + "w = torch.ones(4, requires_grad=True).double()\n(w * w).sum().backward()\n"
        "print(w.grad)\n",
        "w is not a leaf",
    ),
    "overflow": (
        START + "w = torch.full((4,), 200.0).half().requires_grad_()\n"
        "(w / (w * w).sum().sqrt()).float().sum().backward()\n",
        "too large for float16",
    ),
    "no-graph": (
        HEALTHY.replace("y = x", "torch.set_grad_enabled(False)\ny = x"),
        "set_grad_enabled() in line 7",
    ),
}  # fmt: skip
MENDED = {
    "graph-kept": ("append(loss)", "append(loss.item())"),
    "initialization": ("nn.init.constant_(p, 0.1)", "nn.init.normal_(p)"),
    "target-graph": ("net(x + 1)", "net(x + 1).detach()"),
    "constant-term": (" + 2 * (net(x) > 0).float().mean()", ""),
    "own-target": ("out.argmax(1)", "x[:, :3].argmax(1)"),
    "probabilities": ("net(x).softmax(0)", "net(x).log_softmax(0)"),
    "loss-falls": (" - net(x).sum()", " + net(x).square().sum()"),
    "aliased": ("target_net = net", "import copy; target_net = copy.deepcopy(net)"),
    "equal-leaves": ("copy.deepcopy(net)", "nn.Sequential(*net)"),
    "no-leaf": ("requires_grad=True).double()", ").double().requires_grad_()"),
    "overflow": ("(w * w)", "(w.float() * w.float())"),
    "no-graph": ("torch.set_grad_enabled(False)", "torch.set_grad_enabled(True)"),
    "stale-grad": ("    loss.backward()", "    opt.zero_grad()\n    loss.backward()"),
    "unchanged": ("    opt.zero_grad()\n", ""),
    "eval-mode": ("net.eval()", "net.eval(); net.train()"),
    "small-steps": ("lr=2e-7", "lr=0.01"),
    "large-steps": ("lr=20.0", "lr=0.01"),
    "zero-grad": (".round()", ""),
    "discarded": ("    if step % 3 == 2: opt.step()", "    opt.step()"),
    "made-anew": ("    return nn.Linear(1, 1)(h)", "    return h"),
    "collapse": ("weight_decay=5.0", "weight_decay=1e-4"),
    "out-of-reach": ("9 * y", "y.tanh()"),
    "untrained": ("net[3] = nn.Linear(6, 1)\n", ""),
    "unscaled": ("    opt.step()", "    scaler.step(opt)"),
    "misspelt": ("require_grad", "requires_grad"),
    "graph-grows": ("0.5 * state + net(x)", "0.5 * state.detach() + net(x)"),
    "softmax-dim": ("nn.Softmax(dim=0)", "nn.Softmax(dim=1)"),
    "exploding": ("1e9 * net(x)", "net(x)"),
}
"""What the remedies say, as code."""


BARE = "import LIBRARY as torch\ntorch.manual_seed(0)\nx = torch.randn(16, 4)\n"
REASONS = {
    "copies that stay equal": (
        BARE + "import copy\none = torch.randn(4, 2).requires_grad_()\n"
        "both = [one, one.detach().clone().requires_grad_()]\n"
        "optimizer = torch.optim.SGD(both, lr=0.1)\n"
        "for _ in range(3):\n"
        "    optimizer.zero_grad()\n"
        "    sum((x @ w - 1).square().mean() for w in both).backward()\n"
        "    optimizer.step()\n",
        "get the same gradients, and are equal when the run ends: they do the work of one",
        "they differ",
    ),
    "the factor of this edge": (
        BARE + "down, up = torch.zeros(4, 2), torch.zeros(2, 3)\n"
        "for w in (down, up): w.requires_grad_()\n"
        "(x @ down @ up - 1).square().mean().backward()\n",
        "the gradient of down and up is exactly 0 in the only call: down is 0 everywhere",
        "",
    ),
    "dead units of a weight that is 0": (
        BARE + "inner = torch.zeros(4, 9, requires_grad=True)\nouter = torch.ones(9, 1)\n"
        "(torch.relu(x @ inner) @ outer - 1).square().mean().backward()\n",
        "inner is 0 everywhere",
        "[dead-units]",
    ),
    "gradients of a negative root": (
        BARE + "(x.requires_grad_() * (x - 9).detach().sqrt()).sum().backward()\n",
        "nan at 64 of 64 places",
        "add a small number",
    ),
    "a bound far too small": (
        START + LOOP.replace(
            "    opt.step", "    nn.utils.clip_grad_norm_(net.parameters(), 1e-7)\n    opt.step"
        ),
        "clip_grad_norm_(net.parameters(), 1.0)",
        "learning rate: 1e-3",
    ),
    "a function that returns the rate": (
        START + "sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: 1e-7)\n" + LOOP,
        "return a factor from the function of LambdaLR",
        "learning rate: 1e-3",
    ),
    "tiny gradients": (
        START + LOOP.replace("mean()", "mean() / 1e6"),
        "its gradients are tiny",
        "learning rate: 1e-3",
    ),
    "gradients that end": (
        START.replace("Dropout(0.2), nn", "Identity(), nn")
        + LOOP.replace("(net(x) - y)", "((net(x) - 20 * (step > 2)).relu() - y)"),
        "is exactly 0 from backward() call 4 on: all 16 inputs of relu are negative or 0",
        "in all 12 calls",
    ),
    "nothing but ignored targets": (
        BARE + "x.requires_grad_()\ny = torch.full((16,), 3)\n"
        "loss = torch.nn.CrossEntropyLoss(ignore_index=3)\n"
        "for step in range(6): loss(x, y if step == 5 else y - 1).backward()\n",
        "leave such batches out",
        "[loss-falls]",
    ),
    "a critic whose gradients are never cleared": (
        START + "G = nn.Linear(4, 4)\nown = torch.optim.SGD(G.parameters(), lr=0.1)\n"
        "for step in range(12):\n    net(x).mean().backward()\n    opt.step()\n"
        "    own.zero_grad()\n    net(G(x)).square().mean().backward()\n    own.step()\n",
        "call opt.zero_grad() before this backward()",
        "",
    ),
    "weights that begin equal, but for rounding": (
        START.replace("Dropout(0.2), nn", "Identity(), nn")
        + "nn.init.constant_(net[0].weight, 0.1)\nnn.init.zeros_(net[0].bias)\n"
        "nn.init.constant_(net[3].weight, 0.1)\n" + LOOP,
        "all rows of 0.weight began equal",
        "[vanishing]",
    ),
    "a critic that is frozen and forgotten": (
        START + "G = nn.Linear(4, 4)\nown = torch.optim.SGD(G.parameters(), lr=0.1)\n"
        + LOOP.replace("x) - y).square().mean()", "G(x))).square().mean()")
        + "    opt.step()\n    own.step()\n    net.requires_grad_(False)\n",
        "requires_grad was set to False, and never to True again",
        "",
    ),
    "a tensor that is no parameter": (
        START + "net.scale = torch.ones(1, requires_grad=True)\n"
        + LOOP.replace("net(x)", "net.scale * net(x)"),
        "self.scale = nn.Parameter(...)",
        "",
    ),
    "two optimizers of one model": (
        START + "netG = nn.Linear(4, 4)\noptG = torch.optim.SGD(net.parameters(), lr=0.05)\n"
        + LOOP.replace("net(x)", "net(netG(x))").replace("_grad()", "_grad(); netG.zero_grad()"),
        "optG = torch.optim.SGD(netG.parameters(), lr=0.05)",
        "",
    ),
    "a mean of nothing": (
        HEALTHY.replace("mean()", "mean() + nn.functional.mse_loss(net(x)[:0], y[:0])"),
        "leave this term out where there is nothing to compute it from",
        "",
    ),
    "squares of large numbers": (
        HEALTHY.replace("x) - y)", "x) * 1e25 - y)"),
        "its inputs are too large: use a smaller learning rate",
        "above 0",
    ),
    "an optimizer for each call": (
        START + LOOP.replace(
            "    loss =", "    opt = torch.optim.Adam(net.parameters())\n    loss ="
        ),
        "opt is created again for each call",
        "",
    ),
    "gradients clipped while they are scaled": (
        START.replace("nn.Dropout(0.2), ", "") + """\
for step in range(6):
    opt.zero_grad()
    ((net(x) - y).square().mean() * 2**15).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.02)
    for p in net.parameters():
        p.grad /= 2**15
    opt.step()
""",
        "clip_grad_norm_() clips gradients that are still multiplied",
        "[constant-loss]",
    ),
    "who switched gradients off": (
        HEALTHY + "    if step == 3: torch.set_grad_enabled(False)\n",
        "by set_grad_enabled() in line 13, which nothing undid",
        "no_grad() in",
    ),
    "gradients off in a function": (
        START + "@torch.no_grad()\ndef evaluate():\n    return (net(x) - y).square().mean()\n"
        "opt.zero_grad()\nevaluate().backward()\n",
        "by no_grad() in line 8",
        "set_grad_enabled",
    ),
    "a step that changes a copy": (
        BARE + "a = torch.ones(4, requires_grad=True)\nfor step in range(3):\n"
        "    a.grad = None\n    (a * 2 - 1).square().sum().backward()\n"
        "    a.detach().clone().sub_(0.1 * a.grad)\n",
        "line 8 computes a step, and does not write it into it",
        "",
    ),
    "modules by the names of variables": (
        f"{HEALTHY}    if step == 3: net.eval()\n",
        "net is in evaluation mode from call 5 on",
        "",
    ),
    "numbers that index": (
        BARE + "place = torch.tensor([1.4, 2.6], requires_grad=True)\n"
        "gain = torch.ones(2, requires_grad=True)\n"
        "(torch.arange(5.0)[place.int()] * gain).sum().backward()\n",
        "warning [cut]  train.py:6",
        "",
    ),
    "a loss that requires_grad_() made a leaf": (
        HEALTHY.replace("(net(x) - y).square().mean()", "(net(x).squeeze(1).argsort() - "
        "torch.arange(16)).abs().float().mean().requires_grad_()"),
        "warning [cut]  train.py:9",
        "sub()",
    ),
    "all that a number was computed from": (
        HEALTHY.replace("(net(x) - y)", "torch.tensor((net(x) - y).mean().item(), "
        "requires_grad=True)"),
        "0.weight, 0.bias, 3.weight and 3.bias (all of net) get no gradient",
        "[unreached]",
    ),
    "a state that is carried over": (
        START.replace("y =", "state = torch.zeros(16, 4)\ny =") + """\
mix = nn.Linear(4, 4, bias=False)
other = torch.optim.SGD(mix.parameters(), lr=0.05)
for step in range(4):
    state = mix(state) + x
    other.zero_grad()
    state.square().mean().backward(retain_graph=True)
    other.step()
""",
        "state = state.detach() before it is used again",
        "x += 1",
    ),
    "attention over the wrong keys, in batches": (
        BARE + "w = torch.randn(4, 4, requires_grad=True)\nh = x.reshape(2, 8, 4)\n"
        "a = torch.softmax(h @ w @ h.transpose(-2, -1), dim=1)\n"
        "(a @ h).square().mean().backward()\n",
        "use softmax(..., dim=-1)",
        "",
    ),
    "a leaf that a step replaced": (
        BARE + """\
w = torch.ones(4, requires_grad=True)
for step in range(3):
    ((x @ w) - 1).square().mean().backward()
    w = w - 0.1 * w.grad if step == 0 else w * 0.9
""",
        "change it in place: with torch.no_grad(): w -= ...",
        "",
    ),
    "numbers of other tensors in a term": (
        HEALTHY.replace("mean()\n", "mean() + torch.tensor([p.detach().sum() for p in "
        "net.parameters()]).square().mean()\n"),
        "join them with torch.stack()",
        "",
    ),
    "two optimizers of the same leaves": (
        START.replace("x =", "critic = nn.Linear(1, 1)\nlate = torch.optim.SGD(net.parameters(), "
        "lr=0.01)\nx =") + LOOP.replace("(net(x)", "(critic(net(x))"),
        "give late their parameters instead of those that opt has",
        "after all layers, with all parameters",
    ),
    "a schedule that is 0": (
        START + "schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: step // 99)\n"
        + LOOP + "    schedule.step()\n",
        "train.py:8",
        "",
    ),
    "an optimizer of what is no leaf": (
        BARE + "w = torch.ones(4, requires_grad=True).double()\ntorch.optim.SGD([w], lr=0.1)\n",
        "error [no-leaf]  train.py:4",
        "",
    ),
    "weights that were to be tied": (
        BARE + """\
nn = torch.nn
words, table = torch.randint(0, 9, (16,)), nn.Embedding(9, 4)
head = nn.Linear(4, 9, bias=False)
head.weight = nn.Parameter(table.weight.detach().clone())
opt = torch.optim.SGD([table.weight, head.weight], lr=0.1)
nn.functional.cross_entropy(head(table(words).tanh()), words).backward()
""",
        "begin exactly equal",
        "",
    ),
    "a division, with its remedy": (
        BARE + "p = torch.ones(3, requires_grad=True)\n"
        "q = torch.tensor([1.0, 0.0, 2.0], requires_grad=True)\n"
        "torch.where(q != 0, p / q, p).sum().backward()\n",
        "never divide by 0; torch.where() on the result does not help",
        "",
    ),
    "a step that one number loses in rounding": (
        BARE + "w = torch.full((1,), 3.0, requires_grad=True)\n"
        "opt = torch.optim.SGD([w], lr=5e-10)\n"
        "for step in range(4):\n"
        "    opt.zero_grad()\n    (5 * w).square().sum().backward()\n    opt.step()\n",
        "a step is lost in rounding",
        "did not run",
    ),
    "one detach() behind another": (
        START + "table = nn.Embedding(16, 1)\nopt.add_param_group({'params': table.parameters()})\n"
        "for step in range(3):\n    h = net(x)\n    code = table(torch.arange(16))\n"
        "    q = h + (code - h).detach()\n"
        "    opt.zero_grad()\n    (q.square() + (h - q.detach()).square()).mean().backward()\n"
        "    opt.step()\n",
        "use code, as it is before this line",
        "train.py:17",
    ),
    "eigenvectors of equal eigenvalues": (
        BARE + "w = torch.eye(3, requires_grad=True)\nvalues, vectors = torch.linalg.eigh(w * 2)\n"
        "(vectors @ torch.arange(3.0)).sum().backward()\n",
        "torch.linalg.eigh(w * 2 + torch.diag(1e-3 * torch.arange((w * 2).shape[-1])))",
        "a hook, a custom Function",
    ),
    "a power of numbers below 0": (
        BARE + "p = torch.tensor(0.5, requires_grad=True)\n(x ** p).mean().backward()\n",
        "x.clamp(min=1e-6) ** p",
        "1e-12",
    ),
    "the end of a curve": (
        BARE + "w = torch.ones(3, requires_grad=True)\ntorch.asin(w).sum().backward()\n",
        "torch.asin(w.clamp(-1 + 1e-6, 1 - 1e-6))",
        "too large",
    ),
    "a deviation of one number": (
        BARE + "w = torch.ones(1, requires_grad=True)\n(w / x[0, :1].std()).sum().backward()\n",
        "x[0, :1].std(correction=0)",
        "gradstep check finds",
    ),
    "a division by a number of Python": (
        BARE + "t, w = 0.0, torch.ones(3, requires_grad=True)\n(w / t).sum().backward()\n",
        "w / max(t, 1e-3)",
        "torch.where",
    ),
    "everything is 0": (
        START.replace("x =", "for p in net.parameters():\n    nn.init.zeros_(p)\nx =") + LOOP,
        "zeros are for biases",
        "0.bias, std",
    ),
    "a parameter that was moved": (
        START.replace("x =", "net.gain = nn.Parameter(torch.ones(1)).double()\nx =")
        + LOOP.replace("(net(x)", "(net(x) * net.gain"),
        "nn.Parameter(torch.ones(1).double())",
        "leaf never learns",
    ),
    "the largest score": (
        HEALTHY.replace("(net(x) - y)", "(net(x).argmax(1, keepdim=True) - y * p)").replace(
            "x =", "p = torch.ones(1, requires_grad=True)\nx ="
        ),
        "compute the loss from the scores",
        "floating point",
    ),
}  # fmt: skip
"""What is to be said of a cause, and what is not."""
REASONS_ON_PYTORCH = {
    "a sample of what is to learn": (
        HEALTHY.replace(
            "(net(x) - y)", "(torch.distributions.Normal(net(x), 1).sample() - y)"
        ).replace("mean()\n", "mean() + net(x).square().mean()\n"),
        "use rsample() instead of sample()",
        "",
    ),
    "a critic that the actor's loss moves": (
        START + "actor = nn.Linear(4, 1)\nd = torch.distributions.Normal(actor(x), 1)\n"
        "(-d.log_prob(y) * (y - net(x))).mean().backward()\n",
        "(y - net(x)).detach()",
        "",
    ),
}
"""With names that the core lacks."""


@pytest.fixture
def check(gradstep: Gradstep) -> Check:
    """Run ``gradstep check`` on a script: the exit code and the text."""

    def check(script: str, *options: str, target: str = "train.py") -> tuple[int, str]:
        return gradstep(script, "check", *options, target)[:2]

    return check


@pytest.mark.sampled(8)
@pytest.mark.parametrize("code", PROGRAMS)
def test_what_a_run_shows_is_told_with_its_line(check: Check, code: str) -> None:
    script, told = PROGRAMS[code]
    found, printed = check(script)
    assert found == 5
    assert f"{MEANINGS[code].severity} [{code}]" in printed
    assert told in printed


def test_what_many_programs_have_is_worth_a_look_where_nothing_is_wrong(check: Check) -> None:
    unread = HEALTHY.replace("for step", "mask = torch.ones(3)\nfor step")
    said = "mask is computed here, and never read: it is not used [unread]"
    at = unread[: unread.index("mask")].count("\n") + 1
    found, printed = check(unread)
    assert (found, printed.count(f"worth a look: train.py:{at}: {said}")) == (0, 1)
    found, printed = check(unread.replace("    opt.zero_grad()\n", ""))
    assert (found, printed.count("worth a look")) == (5, 0)


def test_a_small_gradient_beside_the_way_does_not_vanish_on_it(check: Check) -> None:
    parts = "side, head = nn.Linear(1, 1), nn.Linear(1, 1)\nopt ="
    script = HEALTHY.replace("opt =", parts).replace(
        "net(x)", "head((h := net(x)) + 1e-8 * side(h))"
    )
    script = script.replace("nn.Tanh(), nn.Dropout(0.2), ", "").replace(
        "net.parameters()", "[*net.parameters(), *side.parameters(), *head.parameters()]"
    )
    assert "[vanishing]" not in check(script)[1]


@pytest.mark.sampled(10)
@pytest.mark.filterwarnings("ignore:std")
@pytest.mark.parametrize("case", REASONS)
def test_a_reason_is_that_of_this_program(check: Check, case: str) -> None:
    assert_told(check, *REASONS[case])


@pytest.mark.parametrize("torch", [TORCH], indirect=True)
@pytest.mark.parametrize("case", REASONS_ON_PYTORCH)
def test_a_reason_is_that_of_this_program_on_pytorch(check: Check, case: str) -> None:
    assert_told(check, *REASONS_ON_PYTORCH[case])


def assert_told(check: Check, script: str, told: str, untold: str) -> None:
    found, printed = check(script)
    assert found == 5
    assert told in printed
    assert not untold or untold not in printed


@pytest.mark.parametrize("torch", [TORCH], indirect=True)
def test_parameters_that_are_all_frozen_are_why_there_is_no_graph(gradstep: Gradstep) -> None:
    frozen = "for name, p in net.named_parameters(): p.requires_grad = name == 'fc'\n"
    status, printed, err = gradstep(START + frozen + LOOP, "check", "train.py")
    assert status == 5
    assert "[no-graph]  train.py:8" in printed
    for told in (printed, err):
        assert "requires_grad is False for all 4 parameters" in told


def test_points_that_a_module_keeps_to_differentiate_by_are_no_parameters(check: Check) -> None:
    script = START.replace("nn.Dropout(0.2), ", "") + (
        "net.points = torch.randn(16, 4).requires_grad_()\n"
        "for step in range(12):\n"
        "    u = net(net.points)\n"
        "    (slope,) = torch.autograd.grad(u.sum(), net.points, create_graph=True)\n"
        "    opt.zero_grad()\n"
        "    ((slope - 1).square().mean() + (u - y).square().mean()).backward()\n"
        "    opt.step()\n"
    )
    assert "[untrained]" not in check(script)[1]


@pytest.mark.parametrize("torch", [TORCH], indirect=True)
def test_a_scaler_that_a_function_steps_by_another_name_is_not_left_out(check: Check) -> None:
    script = (
        START + "def update(s):\n    s.step(opt)\n    s.update()\n"
        'scaler = torch.amp.GradScaler("cpu")\n'
        + LOOP.replace("loss.back", "scaler.scale(loss).back")
        .replace("opt.step", "update")
        .replace("update()", "update(scaler)")
        + "    if step > 99: opt.step()\n"
    )
    assert "[unscaled]" not in check(script)[1]


def test_a_script_that_failed_is_not_called_healthy(gradstep: Gradstep) -> None:
    status, printed, _ = gradstep(HEALTHY + "    raise KeyError(step)\n", "check", "train.py")
    assert status == 1
    assert "nothing suspicious was found before its KeyError" in printed


def test_a_report_has_colours_on_a_terminal_only(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = PROGRAMS["softmax-dim"][0]
    plain = check(script)[1]
    assert "\x1b" not in plain
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    printed = check(script)[1]
    assert "\x1b[1;33mwarning [softmax-dim]\x1b[0m" in printed
    assert re.sub(r"\x1b\[[\d;]*m", "", printed) == plain


def test_a_run_ends_where_it_becomes_nan(check: Check) -> None:
    script = HEALTHY.replace("    opt.step()", "    opt.step()\n    if step == 2: x[0] = -1e30")
    found, printed = check(script.replace("nn.Tanh()", "nn.Softplus()"))
    assert found == 5
    assert re.search(
        r"not looked at: what comes after the NaN or infinity in backward\(\) call 4", printed
    )
    assert "looked at: 4 calls" in printed
    assert "next: gradstep debug --fail-on nan,inf train.py" in printed


def test_what_comes_after_the_end_is_not_said_to_be_missing(check: Check) -> None:
    script = (
        START.replace("x =", "late = torch.optim.SGD(other.parameters(), lr=1)\nx =").replace(
            "opt =", "other = nn.Linear(1, 1)\nopt ="
        )
        + LOOP
        + "other(net(x)).sum().backward(); late.step()\n"
    )
    assert check(script)[0] == 0
    assert check(script, "--calls", "3")[0] == 0


def test_a_long_run_tells_at_once_what_is_certain(
    check: Check, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check_run, "_PATIENCE", 0.0)
    monkeypatch.setattr(check_run, "_LONG", 0.0)
    script = PROGRAMS["softmax-dim"][0]
    lines: list[str] = []
    monkeypatch.setattr(output, "say", lines.append)
    monkeypatch.setattr(output, "relay", lines.append)
    found, printed = check(script)
    assert found == 5
    assert "train.py:9: warning: 1/softmax" not in printed
    assert sum("[softmax-dim]" in each for each in lines) == 1
    assert sum("ctrl+c ends the run with the report so far" in each for each in lines) == 1


def test_ctrl_c_ends_a_run_with_the_report_so_far(check: Check) -> None:
    found, printed = check(f"{HEALTHY}    if step == 7: raise KeyboardInterrupt\n")
    assert found == 130
    assert "looked at: 8 calls" in printed
    assert "not looked at: what comes after ctrl+c" in printed


@pytest.mark.sampled(8, torch=4)
@pytest.mark.parametrize("code", MENDED)
def test_the_remedy_makes_a_finding_vanish(check: Check, code: str) -> None:
    old, new = MENDED[code]
    script, _ = PROGRAMS[code]
    assert old in script
    _, printed = check(script.replace(old, new))
    assert f"[{code}]" not in printed


@pytest.mark.sampled(3, torch=2)
@pytest.mark.parametrize(
    "code", ["stale-grad", "unreached", "eval-mode", "zero-grad", "vanishing", "large-steps"]
)
def test_a_recording_tells_what_its_facts_show(check: Check, code: str) -> None:
    script = PROGRAMS[code][0]
    check(script)  # writes it
    assert main(["record", "-o", "run.gsr", "train.py"]) == 0
    found, printed = check(script, target="run.gsr")
    assert found == 5
    assert f"warning [{code}]" in printed
    assert re.search(r"not looked at: what is aliased, .* and \d+ more", printed)
    assert check(HEALTHY)[0] == 0


def test_a_recording_without_a_finding_says_what_it_lacks_and_which_command_has_it(
    check: Check, capfd: pytest.CaptureFixture[str]
) -> None:
    check(HEALTHY)  # writes it
    assert main(["record", "--budget", "none", "-o", "run.gsr", "train.py"]) == 0
    found, printed = check(HEALTHY, target="run.gsr")
    assert found == 0
    assert re.match(
        r"run\.gsr: nothing found in what the recording holds; \d+ rules need the program; "
        r"1 rule needs the numbers of tensors\n\n"
        r"looked at: the losses of 12 calls, and \d leaves in them; the graphs of \d of them\n"
        r"  loss: \S+ to \S+ in 12 calls, \S+ at best\n"
        r"(  data: .*\n)?  steps: opt \(SGD\) 12 times at 0\.05\n"
        r"  gradients: rms \S+ \(\S+\) to \S+ \(\S+\)\n"
        r"  updates: \S+ \(\S+\) to \S+ \(\S+\) of the size of a leaf, from call to call\n"
        r"  modes: training: ",
        printed,
    )
    assert "next: gradstep check train.py\n" in printed
    assert main(["check", "--format", "json", "run.gsr"]) == 0
    rules = json.loads(capfd.readouterr().out)["rules"]
    assert {"broadcast", "unreached", "untrained"} <= {*rules["run"]}
    needs = {rule["code"]: rule["needs"] for rule in rules["not_run"]}
    assert (needs["duplicate-hook"], needs["saturated"]) == (["objects"], ["numbers"])
    assert needs["cut"] == ["forward"]


FROZEN = """
import LIBRARY as torch
from LIBRARY import nn
encoder, head, spare = nn.Linear(4, 3), nn.Linear(3, 1), nn.Linear(3, 1)
opt = torch.optim.SGD([*encoder.parameters(), *head.parameters(), *spare.parameters()], 0.1)
for step in range(3):
    with torch.no_grad():
        code = encoder(torch.rand(5, 4))
    opt.zero_grad()
    head(code).pow(2).mean().backward()
    opt.step()
"""


def test_a_recording_names_the_leaves_of_an_optimizer_to_which_no_call_came(
    check: Check, capfd: pytest.CaptureFixture[str]
) -> None:
    check(FROZEN)  # writes it
    assert main(["record", "-o", "run.gsr", "train.py"]) == 0
    found, printed = check(FROZEN, "--all", target="run.gsr")
    assert found == 5
    assert "1 warning\n" in printed
    assert "encoder.weight and encoder.bias never get a gradient" in printed
    # nothing ran it: it may be one for later
    notes = printed.partition("info [unreached]")[2]
    assert "spare.weight and spare.bias never get a gradient" in notes
    assert main(["why", "run.gsr", "encoder.weight"]) == 5
    assert "the loss does not depend on encoder.weight" in capfd.readouterr().out
    Path("commands").write_text("info leaves\n", "utf-8")
    assert main(["debug", "--batch", "-x", "commands", "run.gsr"]) == 0
    said = " ".join(capfd.readouterr().out.split())
    assert "encoder.weight.grad never reached opt has it" in said


def test_a_recording_of_a_run_that_failed_is_not_called_right(check: Check) -> None:
    script = HEALTHY.replace("    opt.step()", "    loss.backward()")
    check(script)  # writes it
    assert main(["record", "-o", "run.gsr", "train.py"]) == 1
    found, printed = check(script, target="run.gsr")
    assert found == 5
    assert "error [freed]  train.py:" in printed
    assert "backward() call 2 needs values that an earlier backward() freed" in printed
    assert "the run ended by RuntimeError" in printed


def test_a_healthy_run_is_not_called_right_but_told_what_was_looked_at(check: Check) -> None:
    found, printed = check(HEALTHY)
    assert found == 0
    # on a machine that is busy, some calls are looked at less closely
    assert re.fullmatch(
        r"train\.py: nothing suspicious was found\n\n"
        r"looked at: 12 calls on 1 line(, \d+ of them with their graphs)?\n"
        r"(  (loss|data|steps|gradients|updates|modes): .*\n){6}"
        r"not looked at: derivatives of built-in ops \(--derivatives\)"
        r"(; the graphs of \d+ calls?)?\n"
        r"next: gradstep debug train\.py\n",
        printed,
    )


def test_accumulated_gradients_that_are_cleared_after_each_step_are_right(check: Check) -> None:
    script = HEALTHY.replace("    opt.zero_grad()\n", "").replace(
        "    opt.step()\n", "    if step % 3 == 2:\n        opt.step(); opt.zero_grad()\n"
    )
    assert check(script)[0] == 0


def test_a_run_ends_after_the_calls_or_the_time_that_were_asked_for(check: Check) -> None:
    _, printed = check(HEALTHY, "--calls", "3")
    assert "looked at: 3 calls" in printed
    assert "not looked at: what comes after --calls 3" in printed
    _, printed = check(HEALTHY, "--for", "0.000001s")
    assert "looked at: 1 call" in printed


def test_findings_that_are_ignored_do_not_count(check: Check) -> None:
    assert check(PROGRAMS["small-steps"][0], "--ignore", "small-steps,constant-loss")[0] == 0


@pytest.mark.parametrize("name", ["scale", "saturated", "limits", "negative"])
def test_the_name_of_a_variable_decides_no_advice(check: Check, name: str) -> None:
    program = f"""\
import LIBRARY as torch
from LIBRARY import nn
{name} = nn.Parameter(torch.zeros(3))
net = nn.Linear(4, 3)
opt = torch.optim.SGD([*net.parameters(), {name}], lr=0.1)
x = torch.randn(8, 4)
for step in range(6):
    loss = (net(x) * {name} * 0.0).pow(2).sum() + 1
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
    assert f"begin {name} with random numbers" in check(program)[1]


def test_a_finding_is_explained_by_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "stale-grad"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("[stale-grad] a gradient is used in two steps\n")
    assert "    opt.zero_grad()\n    loss.backward()\n" in said
    assert main(["explain"]) == 0
    said = capsys.readouterr().out
    assert all(f"[{code}]" in said for code in MEANINGS)
    assert main(["explain", "stale-grads"]) == 2
    assert "stale-grad" in capsys.readouterr().err


def test_a_program_of_grad_alone_is_debugged_from_its_first_call(check: Check) -> None:
    script = START + "torch.autograd.grad(net(x).sum(), net[0].weight)\n"
    assert "next: gradstep debug --call grad:1 train.py" in check(script)[1]


def test_a_report_says_where_gradstep_itself_failed(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise IndexError("a defect")

    monkeypatch.setattr(Watch, "_look_at", fail)
    assert "not looked at: what gradstep failed at" in check(HEALTHY)[1]


CHECKPOINTS = """
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

layer, head = nn.Linear(4, 4), nn.Linear(4, 1)

def body(h):
    return torch.tanh(layer(h))

optimizer = torch.optim.SGD([*layer.parameters(), *head.parameters()], 0.1)
for _ in range(5):
    optimizer.zero_grad()
    h = checkpoint(body, torch.randn(3, 4), use_reentrant=True)
    (head(h) - 1).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize("torch", [TORCH], indirect=True)
def test_what_a_reentrant_checkpoint_turns_off_is_not_the_programs_no_grad(check: Check) -> None:
    found, printed = check(CHECKPOINTS)
    assert found == 5
    assert "use_reentrant=False" in printed
    assert "no_grad" not in printed


AT_THE_END = """
import LIBRARY as torch
from LIBRARY import nn

net, x = nn.Linear(4, 1), torch.randn(8, 4)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / 197))
for _ in range(200):
    optimizer.zero_grad()
    (net(x) - x.sum(1, keepdim=True)).square().mean().backward()
    optimizer.step()
    scheduler.step()
"""


def test_a_schedule_may_end_at_0(check: Check) -> None:
    found, printed = check(AT_THE_END)
    assert found == 0, printed
