"""Rules that read the text of the program: each tells a mistake, and nothing where it is fixed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradstep.findings.facts import Facts
from gradstep.findings.facts.program import Files
from gradstep.findings.finding import Reason
from gradstep.findings.patches import fixed
from gradstep.findings.rules.run import RULES
from gradstep.recording.facts import Header
from gradstep.recording.run import MemoryRun

SWAPPED = """
def loss(boundary, interior):
    return boundary.mean() + interior.square().mean()

total = loss(FIRST, SECOND)
"""
TRIPLETS = """
criterion = nn.TripletMarginLoss(margin=0.2)
loss = criterion(net(a), net(p), net(n))
total = criterion(anchor, FIRST, SECOND)
"""
COLUMNS = """
def derivatives(model, t, x):
    points = torch.cat([t, x], dim=1).requires_grad_()
    (gradient,) = torch.autograd.grad(model(points).sum(), points, create_graph=True)
    FIRST, SECOND = gradient[:, 0:1], gradient[:, 1]
    return u_t, u_x
"""
RETURNS = """
def returns_of(rewards, gamma):
    total, returns = 0.0, []
    for reward in ORDER:
        total = reward + gamma * total
        returns.append(total)
    return returns
"""
SEED = """
class Data(Dataset):
    def __getitem__(self, index):
        torch.manual_seed(SEED)
        return self.x[index] + torch.randn(3)
"""
SEED_OF_A_LOOP = """
for step in range(100):
    SET
    loss = net(x + torch.randn(3)).sum()
    loss.backward()
"""
FLIP = """
def __getitem__(self, index):
    image, mask = self.images[index], self.masks[index]
    if torch.rand(()) < 0.5:
        image = image.flip(-1)
        OTHER
    return image, mask
"""
STATISTICS = """
class Series(Dataset):
    def __init__(self, x, mean, std):
        self.x = FORMULA

    def __getitem__(self, index):
        return self.x[index]

train, valid = Series(x[:400], m, s), Series(x[400:], m, s)
"""
ENTROPY = """
entropy = policy.entropy().mean()
policy_loss = -(policy.log_prob(action) * advantage).mean()
loss = policy_loss SIGN 0.01 * entropy
"""
VOLUME = """
def log_prob(self, x):
    log_det = torch.zeros(len(x))
    for layer in self.layers:
        x, change = layer(x)
        log_det = log_det + change
    return self.base.log_prob(x).sum(dim=1) SIGN log_det
"""
EDGES = """
def forward(self, x, source, target):
    messages = self.message(x)[READ]
    return torch.zeros_like(x).index_add(0, ADDED, messages)
"""
PAIRS = [
    pytest.param("swapped", SWAPPED, {"FIRST": "interior", "SECOND": "boundary"},
                 {"FIRST": "boundary", "SECOND": "interior"}, id="own function"),
    pytest.param("swapped", TRIPLETS, {"FIRST": "negative", "SECOND": "positive"},
                 {"FIRST": "positive", "SECOND": "negative"}, id="a loss of PyTorch"),
    pytest.param("column-order", COLUMNS, {"FIRST": "u_x", "SECOND": "u_t"},
                 {"FIRST": "u_t", "SECOND": "u_x"}, id="columns"),
    pytest.param("returns-order", RETURNS, {"ORDER": "rewards"}, {"ORDER": "reversed(rewards)"},
                 id="returns"),
    pytest.param("same-seed", SEED, {"SEED": "0"}, {"SEED": "index"}, id="items"),
    pytest.param("same-seed", SEED_OF_A_LOOP, {"SET": "torch.manual_seed(1)"},
                 {"SET": "torch.manual_seed(step)"}, id="steps"),
    pytest.param("augmented-alone", FLIP, {"OTHER": "pass"}, {"OTHER": "mask = mask.flip(-1)"},
                 id="a mask"),
    pytest.param("own-statistics", STATISTICS, {"FORMULA": "(x - x.mean(0)) / x.std(0)"},
                 {"FORMULA": "(x - mean) / std"}, id="statistics"),
    pytest.param("term-sign", ENTROPY, {"SIGN": "+"}, {"SIGN": "-"}, id="entropy"),
    pytest.param("term-sign", VOLUME, {"SIGN": "-"}, {"SIGN": "+"}, id="volume"),
    pytest.param("edges-reversed", EDGES, {"READ": "target", "ADDED": "source"},
                 {"READ": "source", "ADDED": "target"}, id="edges"),
]  # fmt: skip


def reasons_in(text: str, folder: Path, code: str) -> list[Reason]:
    file = folder / "train.py"
    file.write_text(text, "utf-8")
    facts = Facts(MemoryRun(Header()))
    facts[Files].names[str(file)] = None
    rules = [rule for rule in RULES if rule.needs == (Files,)]
    return [
        reason for rule in rules for reason in rule.find(facts.only(rule)) if reason.code == code
    ]


def filled(text: str, words: dict[str, str]) -> str:
    for word, other in words.items():
        text = text.replace(word, other)
    return text


def test_columns_are_exchanged_wherever_they_are_read(tmp_path: Path) -> None:
    columns = {"FIRST": "u_x", "SECOND": "u_t"}
    (reason,) = reasons_in(filled(COLUMNS, columns), tmp_path, "column-order")
    after = fixed((tmp_path / "train.py").read_text(), reason.fix())
    assert "gradient[:, 1:2], gradient[:, 0]" in after
    (tmp_path / "after").mkdir()
    assert not reasons_in(after, tmp_path / "after", "column-order")


@pytest.mark.parametrize(("code", "text", "wrong", "right"), PAIRS)
def test_a_mistake_is_told_once_and_not_when_it_is_fixed(
    code: str, text: str, wrong: dict[str, str], right: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "wrong").mkdir()
    (reason,) = reasons_in(filled(text, wrong), tmp_path / "wrong", code)
    assert reason.source is not None
    assert reason.text()
    assert reason.remedy()
    (tmp_path / "right").mkdir()
    assert not reasons_in(filled(text, right), tmp_path / "right", code)


def test_an_order_that_the_program_uses_both_ways_is_meant(tmp_path: Path) -> None:
    text = filled(SWAPPED, {"FIRST": "interior", "SECOND": "boundary"})
    assert not reasons_in(f"{text}\nother = loss(boundary, interior)\n", tmp_path, "swapped")


def test_swapped_arguments_change_places_in_the_fix(tmp_path: Path) -> None:
    text = filled(SWAPPED, {"FIRST": "interior", "SECOND": "boundary"})
    (reason,) = reasons_in(text, tmp_path, "swapped")
    assert [fix.text for fix in reason.fix()] == ["total = loss(boundary, interior)"]
