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
SPLIT = "r = nn.GRU(3, 4); h = r(x.view(8, 2, 3)ORDER)[0]; loss = F.cross_entropy(hLAST, y)"
ATTENTION = """ids = torch.randint(4, (8, 7)); h = F.embedding(ids[:, :-1], net.weight)
    w = (h @ h.transpose(1, 2))MASK
    loss = F.mse_loss(net(x)[:, 0], x.sum(1))  # of another task
    loss += F.cross_entropy(net(w.softmax(-1) @ h).flatten(0, 1), ids[:, 1:].flatten())"""
CAUSAL = ".masked_fill(torch.ones(6, 6).triu(1).bool(), float('-inf'))"
ADVANTAGE = "a = (y.float() - net(x)[:, COLUMNS]).detach(); loss = (net(x)[:, 0] * a).mean()"
WRITTEN = "h = net(x) * 2; CHANGE; loss = h.square().mean()"
SWAPPED = "x = x.view(8, 2, 3).CHANGE.flatten(1); loss = F.cross_entropy(net(x), y)"
BY_ROWS = """q = net(x).view(8, 2, 2)ORDER; w = (q @ q.transpose(1, 2)).softmax(-1) @ q
    loss = F.cross_entropy(wORDER.flatten(1), y)"""
ONE_BY_ONE = """r = nn.GRU(6, 4, batch_first=True)(x.unsqueeze(DIM))[0].squeeze(DIM)
    loss = F.cross_entropy(r + net(x), y)"""
ALONG = """c = nn.Conv1d(6, 4, 3, padding=1)(CHANGE
    loss = F.cross_entropy(c + net(x), y)"""
PLACES = """h = net(x)[:, :, None] * torch.ones(5) + nn.Parameter(torch.rand(64, 1, 5))SLICE
    loss = F.cross_entropy(h.sum(2), y)"""
ITEMS = "a = data @ torch.ones(6, 4); i = torch.randperm(48)[:8]; x = data[i]; "
ROWS = """at = range(START, START + 8); rows = [data[i] for i in at]; CHANGE
    a = data.sum(1); x = torch.stack(rows); t = torch.stack([a[i] for i in at])
    loss = F.mse_loss(net(x)[:, 0], t)"""
AGAIN = ROWS.replace("CHANGE", "")
NOISY = ROWS.replace("START", "step")
SHIFTED = """ids = torch.randint(4, (8, 9)); h = F.embedding(ids[:, :6], net.weight)
    loss = F.cross_entropy(net(h).flatten(0, 1), ids[:, FROM:FROM + 6].flatten())"""
NOISE = """noise = torch.randn_like(x)
    target = TARGET
    loss = F.mse_loss(net(x + 0.1 * noise), target)"""
VIEWS = """first = torch.stack([*x, *x]); z = OTHER; second = torch.stack([*z, *z])
    loss = (net(first) * net(second)).mean()"""
PAIRS: list[tuple[str, str, str]] = [
    ("rows-mixed", SPLIT.replace("ORDER", "").replace("LAST", "[:, -1]"),
     SPLIT.replace("ORDER", ".transpose(0, 1)").replace("LAST", "[-1]")),
    ("rows-mixed", BY_ROWS.replace("ORDER", ".transpose(0, 1)"), BY_ROWS.replace("ORDER", "")),
    ("rows-mixed", ONE_BY_ONE.replace("DIM", "0"), ONE_BY_ONE.replace("DIM", "1")),
    ("rows-mixed", ALONG.replace("CHANGE", "x.T[None])[0].T"),
     ALONG.replace("CHANGE", "x[:, :, None])[:, :, 0]")),
    ("rows-mixed", PLACES.replace("SLICE", "[:8]"), PLACES.replace("SLICE", "[0]")),
    ("not-transposed", SWAPPED.replace("CHANGE", "reshape(8, 3, 2)"),
     SWAPPED.replace("CHANGE", "transpose(1, 2)")),
    ("sees-target", ATTENTION.replace("MASK", ""), ATTENTION.replace("MASK", CAUSAL)),
    ("broadcast", ADVANTAGE.replace("COLUMNS", ":1"), ADVANTAGE.replace("COLUMNS", "1")),
    ("one-target", "loss = F.cross_entropy(net(x), torch.stack([torch.tensor(2)] * 8))",
     "loss = F.cross_entropy(net(x), torch.stack([*y]))"),
    ("shifted-targets", SHIFTED.replace("FROM", "2"), SHIFTED.replace("FROM", "1")),
    ("fresh-target", NOISE.replace("TARGET", "torch.randn_like(x)[:, :4]"),
     NOISE.replace("TARGET", "noise[:, :4]")),
    ("equal-inputs", VIEWS.replace("OTHER", "x"), VIEWS.replace("OTHER", "x + torch.rand(6)")),
    ("rows-apart", f"{ITEMS}loss = F.mse_loss(net(x), a[torch.randperm(48)[:8]])",
     f"{ITEMS}loss = F.mse_loss(net(x), a[i])"),
    ("rows-apart", f"{ITEMS}loss = F.mse_loss(net(x), a[i.flip(0)])",
     f"{ITEMS}loss = F.mse_loss(net(x + 0.1 * x[torch.randperm(8)]), a[i])"),
    ("target-in-input", f"{ITEMS}loss = F.mse_loss(net(x)[:, 0], x[:, 5])",
     f"{ITEMS}loss = F.mse_loss(net(x * (torch.arange(6) < 5))[:, 0], x[:, 5])"),
    ("same-batch", AGAIN.replace("START", "3"), AGAIN.replace("START", "step")),
    ("data-changed", NOISY.replace("CHANGE", "[row.add_(0.1) for row in rows]"),
     NOISY.replace("CHANGE", "rows = [row + 0.1 for row in rows]")),
    ("data-written", WRITTEN.replace("CHANGE", "h.data /= 2"),
     WRITTEN.replace("CHANGE", "h = h / 2")),
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


NOTES = ("rows-apart",)


def codes(body: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    file = folder / "train.py"
    file.write_text(f"{HEAD}    {body}{TAIL}", "utf-8")
    capsys.readouterr()
    main(["check", "--format", "json", str(file)])
    document = json.loads(capsys.readouterr().out)
    return [
        each["code"]
        for each in document["findings"]
        if each["severity"] != "info" or each["code"] in NOTES
    ]


@pytest.mark.parametrize(("code", "wrong", "right"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_data_that_cannot_teach_are_told(
    code: str, wrong: str, right: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code in codes(wrong, tmp_path, capsys)
    assert code not in codes(right, tmp_path, capsys)


JUMPS = """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(6, 4)
optimizer = torch.optim.SGD(net.parameters(), RATE)
for step in range(CALLS):
    x = torch.randn(16, 6) * (60 if step == FAR else 1)
    loss = LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SQUARES = "(net(x).sum(1) - x.sum(1)).square().mean()"
CLASSES = "torch.nn.functional.cross_entropy(net(x), torch.arange(16) % 4)"


@pytest.mark.parametrize(
    ("code", "loss", "rate", "calls", "far", "says"),
    [
        ("loss-jumps", SQUARES, "0.01", "40", "29", "backward() call 30"),
        ("", SQUARES, "0.01", "40", "None", ""),
        ("loss-rises", CLASSES, "3.0, maximize=True", "40", "None", "a guess would do better"),
        ("", CLASSES, "0.3", "40", "None", ""),
    ],
)
def test_the_first_strange_call_is_told(
    code: str, loss: str, rate: str, calls: str, far: str, says: str,
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    program = JUMPS.replace("LOSS", loss).replace("RATE", rate)
    (tmp_path / "train.py").write_text(program.replace("CALLS", calls).replace("FAR", far))
    main(["check", "--format", "json", "--all", str(tmp_path / "train.py")])
    findings = json.loads(capsys.readouterr().out)["findings"]
    told = {each["code"]: each["what"] for each in findings}
    assert says in told.get(code, "")
    assert bool(code) == bool({"loss-jumps", "loss-rises"} & told.keys())


DROPPING = """
import torch
from torch import nn
import torch.nn.functional as F
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(6, 1)
    def forward(self, x):
        return self.head(F.dropout(x, 0.5TRAINING))
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(3):
    net.train()
    optimizer.zero_grad()
    net(torch.rand(8, 6)).square().mean().backward()
    optimizer.step()
    net.eval()
"""


@pytest.mark.parametrize("training", ["", ", training=self.training"])
def test_dropout_that_does_not_end_is_told_with_its_fix(
    training: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(DROPPING.replace("TRAINING", training))
    main(["check", str(tmp_path / "train.py")])
    printed = capsys.readouterr().out
    assert ("[always-dropout]" in printed) == (not training)
    assert "0.5, training=self.training" in printed or training


ATTACKED = """\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(3):
    x, y = torch.rand(8, 6), torch.arange(8) % 4
    moved = x.clone().requires_grad_()
    (g,) = torch.autograd.grad(nn.functional.cross_entropy(net(moved), y), moved)
    loss = USE
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("use", "is_told"),
    [
        ("nn.functional.cross_entropy(net(x + 0.1 * g / g.norm()), y)", False),
        ("nn.functional.cross_entropy(net(x), y) + (g.norm() - 1) ** 2", True),
    ],
)
def test_a_constant_gradient_may_move_an_input_and_is_no_penalty(
    use: str, is_told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(ATTACKED.replace("USE", use))
    main(["check", str(tmp_path / "train.py")])
    assert ("[create-graph]" in capsys.readouterr().out) == is_told


MEASURED = """\
import torch
torch.manual_seed(0)
net = torch.nn.Linear(6, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
def sizes():
    for _ in range(8):
        net.zero_grad()
        net(torch.rand(8, 6)).square().mean().backward()
        READ
    net.zero_grad()
for step in range(3):
    optimizer.zero_grad()
    net(torch.rand(8, 6)).square().mean().backward()
    optimizer.step()
sizes()
"""


@pytest.mark.parametrize(("read", "is_told"), [("print(net.weight.grad.norm())", 0), ("pass", 1)])
def test_gradients_that_are_measured_need_no_step(
    read: str, is_told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(MEASURED.replace("READ", read))
    main(["check", str(tmp_path / "train.py")])
    assert ("[unchanged]" in capsys.readouterr().out) == bool(is_told)


UNKEPT = """\
import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.norm, self.head = nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 1)
        self.act = nn.ReLU(inplace=True)
    def forward(self, x):
        x = self.body(x)
        LINE
        self.act(x)
        return self.head(x)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(3):
    optimizer.zero_grad()
    net(torch.rand(8, 6)).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("line", "is_told"), [("self.norm(x)", 1), ("x = self.norm(x)", 0)])
def test_a_result_that_nobody_keeps_is_told_with_its_fix(
    line: str, is_told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(UNKEPT.replace("LINE", line))
    main(["check", str(tmp_path / "train.py")])
    printed = capsys.readouterr().out
    assert printed.count("[result-unused]") == is_told
    assert "x = self.norm(x)" in printed or not is_told


ORDERED = """\
import torch
from torch import nn
torch.manual_seed(0)
DATA
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(4):
    x = data[torch.randperm(40)[:8]]
    CHANGE
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
"""
IMAGES = """\
data = torch.rand(40, 8, 8, 3)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 1))
net[0].bias.data.fill_(-9)
"""
TABLE = """\
data = torch.rand(40, 4) * torch.tensor([1.0, 5.0, 1e-3, 2.0])
data[:, 0] += 2e4
std = ((data**2).mean(0) - data.mean(0) ** 2).clamp(min=0).sqrt() + 1e-6
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
"""


@pytest.mark.parametrize(
    ("data", "change", "codes", "fix"),
    [
        (IMAGES, "x = x.reshape(8, 3, 8, 8)", ["not-transposed", "zero-grad"],
         "x = x.permute(0, 3, 1, 2)"),
        (TABLE, "x = (x - data.mean(0)) / std", ["cancelled"], None),
    ],
)  # fmt: skip
def test_what_data_explain_is_told_behind_what_is_wrong_with_them(
    data: str, change: str, codes: list[str], fix: str | None,
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / "train.py").write_text(ORDERED.replace("DATA", data).replace("CHANGE", change))
    main(["check", "--format", "json", str(tmp_path / "train.py")])
    document = json.loads(capsys.readouterr().out)
    told = [each for each in document["findings"] if each["severity"] != "info"]
    assert [each["code"] for each in told] == codes
    assert (told[0]["fix"] or {"lines": [{"new": None}]})["lines"][0]["new"] == fix
