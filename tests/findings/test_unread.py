"""What no line of a program reads, by its text alone."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from gradstep.findings.rules.run.result_unused import without_effect
from gradstep.findings.rules.run.unread import unread_of
from tests.check_corpus.running import healthy_programs

TOLD = {
    "a field of a batch": (
        """
        def learn(batch):
            state, reward, done = batch
            return reward + value(state)
        learn(memory)
        """,
        {("done", "field", 3)},
    ),
    "what a function computes and does not store": (
        """
        class Queue:
            def put(self, keys):
                pointer = int(self.pointer)
                self.rows[pointer] = keys
                pointer = (pointer + len(keys)) % self.size
        """,
        {("pointer", "computed", 6)},
    ),
    "a layer whose result the next one does not take": (
        """
        class Net(nn.Module):
            def forward(self, x):
                h = self.first(x)
                h = self.second(x)
                return h
        """,
        {("h", "computed", 4)},
    ),
    "a mask that a module is given": (
        """
        class Block(nn.Module):
            def forward(self, x, mask):
                return self.linear(x)
        class Net(nn.Module):
            def __init__(self):
                self.blocks = nn.ModuleList([Block() for _ in range(3)])
            def forward(self, x, mask):
                for block in self.blocks:
                    x = block(x, mask)
                return x
        """,
        {("mask", "argument", 3)},
    ),
    "an argument that is replaced": (
        """
        def sample(noise):
            noise = torch.zeros(3)
            return noise + 1
        sample(torch.randn(3))
        """,
        {("noise", "argument", 2)},
    ),
    "the batch of a loop": (
        """
        for x in loader:
            loss = net(data).sum()
            loss.backward()
        """,
        {("x", "round", 2)},
    ),
    "the inputs of a loop": (
        """
        for step, (x, y) in enumerate(loader):
            loss(net(data), y, step).backward()
        """,
        {("x", "field", 2)},
    ),
    "settings": (
        """
        GAMMA = 0.99
        class Config:
            clip: float = 1.0
            rate: float = 0.1
        class Net(nn.Module):
            def __init__(self, temperature):
                self.temperature = temperature
                self.drop = nn.Dropout(0.5)
                self.linear = nn.Linear(2, 2)
        train(Config().rate)
        """,
        {
            ("GAMMA", "setting", 2), ("Config.clip", "setting", 4),
            ("self.temperature", "setting", 8), ("self.drop", "made", 9),
        },
    ),
    "a sum of which only the last term is left": (
        """
        class Flow(nn.Module):
            def forward(self, x):
                log_det = torch.zeros(len(x))
                for layer in self.layers:
                    x, change = layer(x)
                    log_det = change.sum(1)
                return x, log_det
        """,
        {("log_det", "last", 7)},
    ),
    "layers that all get the same input": (
        """
        class Net(nn.Module):
            def forward(self, x):
                for layer in self.layers:
                    h = layer(x)
                return h
        """,
        {("h", "last", 5)},
    ),
    "a term of a loss that the next one replaces": (
        """
        def residual(t):
            return net(t) - t
        for step in range(3):
            loss = residual(points).square().mean()
            loss = (net(zero) - 1).square().mean()
            loss.backward()
        """,
        {("loss", "computed", 5)},
    ),
    "an argument of one of two modules": (
        """
        class Conv(nn.Module):
            def forward(self, x, weight):
                return self.linear(x)
        class Net(nn.Module):
            def __init__(self):
                self.first, self.second = Conv(), Conv()
            def forward(self, x, weight):
                return self.second(self.first(x, weight), weight)
        """,
        {("weight", "argument", 3)},
    ),
    "a loop that returns in its first round": (
        """
        def evaluate(loader):
            total = 0
            for x in loader:
                total += net(x)
                return total
        """,
        {("return", "once", 6)},
    ),
    "a function that updates": (
        """
        class Teacher(nn.Module):
            def follow_ema(self, student):
                self.weight.lerp_(student.weight, 0.01)
        """,
        {("follow_ema", "function", 3)},
    ),
    "what a script makes": (
        "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)\nloss.backward()",
        {("scheduler", "made", 1)},
    ),
}  # fmt: skip

SILENT = {
    "what the next round reads": """
        def run(n):
            state = start()
            for step in range(n):
                state = torch.tanh(state * 2)
            return state
        """,
    "the first batch": """
        for x in loader:
            print(net(x))
            break
        """,
    "what a loop leaves behind": """
        def run(loader):
            for x in loader:
                last = net(x)
            return last
        """,
    "a sum": """
        def run(loader):
            total = 0
            for x in loader:
                total = total + net(x)
            return total
        """,
    "what is read before a break": """
        def run(loader):
            best = torch.zeros(1)
            while True:
                new = torch.rand(1)
                if new < best:
                    break
                best = new
            return new
        """,
    "what a handler reads": """
        def run(x):
            y = torch.exp(x)
            try:
                y = torch.log(x)
                check(x)
            except ValueError:
                pass
            return y
        """,
    "what an error that is suppressed leaves": """
        def run(x):
            y = torch.exp(x)
            with suppress(ValueError):
                y = torch.log(x)
            return y
        """,
    "what a closure reads": """
        def run(x):
            y = torch.exp(x)
            return lambda: y
        """,
    "a tensor that is changed in place": """
        def run(module):
            weight = module.weight.reshape(-1)
            weight -= 0.1
        """,
    "what others of its name need": """
        class A:
            def act(self, state, noise):
                return state + noise
        class B:
            def act(self, state, noise):
                return state
        A().act(s, n), B().act(s, n)
        """,
    "what nobody gives": """
        class Sine(nn.Module):
            def forward(self, t, state):
                return state
        odeint(Sine(), state, times)
        """,
    "what a rule is given and does not need": """
        class Round(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.round()
        """,
    "what a layer returns beside its result": "out, attention = layer(x, x, x)\nprint(out)",
    "sizes": "batch, length = x.shape\nprint(batch)",
    "names that say so": "def f(batch):\n    x, _y, z = batch\n    return x + z\nf(1)",
    "what a call does": "loss = train(net)\nloss = train(net)",
    "a measure": "gap = (best(x) - y).item()",
    "what a file has for others": "loss = net(x).sum()",
    "numbers that change nothing of a training": "WORKERS = 4",
}


@pytest.mark.parametrize("case", TOLD)
def test_what_no_line_reads_is_told(case: str) -> None:
    text, expected = TOLD[case]
    tree = ast.parse(dedent(text))
    found = unread_of("train.py", tree)
    assert {(each.name, each.how, each.source.line) for each in found if each.source} == expected


@pytest.mark.parametrize("case", SILENT)
def test_what_may_be_read_is_not_told(case: str) -> None:
    assert list(unread_of("train.py", ast.parse(dedent(SILENT[case])))) == []


def test_labels_that_a_loop_does_not_need_are_a_note() -> None:
    (found,) = unread_of(
        "train.py", ast.parse("for image, label in loader:\n    net(image).sum().backward()")
    )
    assert (found.name, found.is_note) == ("label", True)


def test_names_that_other_files_read_are_read() -> None:
    tree = ast.parse("GAMMA = 0.9\nweights = torch.ones(3)\nloss.backward()")
    assert len(list(unread_of("train.py", tree))) == 2
    assert list(unread_of("train.py", tree, frozenset({"GAMMA", "weights"}))) == []


@pytest.mark.parametrize("program", healthy_programs(), ids=lambda program: program.stem)
def test_healthy_programs_read_what_they_compute(program: Path) -> None:
    tree = ast.parse(program.read_text("utf-8"))
    assert list(unread_of(str(program), tree)) == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("optimizer.zero_grad", "does not call it"),
        ("loss + penalty", "does not keep it"),
        ("x.clamp(0, 1)", "use x as it was"),
        ("weight.data.add(step)", "use weight.data as it was"),
        ("F.relu(x)", "use x as it was"),
        ("F.relu(x, inplace=True)", None),
        ("x.clamp_(0, 1)", None),
        ("seen.add(x)", None),
        ("net.train()", None),
        ("'a text'", None),
    ],
)
def test_a_statement_without_effect_is_told(line: str, says: str | None) -> None:
    (statement,) = ast.parse(line).body
    assert isinstance(statement, ast.Expr)
    reason = without_effect(statement.value, frozenset())
    assert (reason is None) if says is None else (reason is not None and says in reason.text())
