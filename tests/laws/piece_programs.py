"""Random programs made of pieces: each runs plainly and under commands, and what it says is the
same."""

from __future__ import annotations

import random
import re
import symtable
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from string import Template
from subprocess import CompletedProcess
from textwrap import indent
from typing import NamedTuple

from tests.forking import run_beside
from tests.laws.pieces import GROUPS, HEADER
from tests.laws.walks import random_lines
from tests.waiting import LIMIT

CAUGHT = "except Exception as error: tell(type(error).__name__, *str(error).splitlines()[:1])\n"
LEAVES = ("x0", "x1", "x2")
PROGRAM = "train.py"


class Statement(NamedTuple):
    """A piece in a program.

    Attributes:
        group: of the piece.
        name: of the piece.
        new: the name of the value that it makes, "" for none.
        names: what its placeholders are.
        body: what stands inside of it.
        caught: whether the program goes on where a call raises.
    """

    group: str
    name: str
    new: str
    names: tuple[tuple[str, str], ...]
    body: tuple[Statement, ...] = ()
    caught: bool = True

    def text(self) -> str:
        """The statement as source."""
        text = GROUPS[self.group][self.name]
        if self.group == "around":
            body = "".join(each.text() for each in self.body) or "pass\n"
            words = " ".join(("global", ", ".join(sorted(_assigned(body))))) if body else ""
            lines = text.splitlines()
            text = ""
            for line in lines:
                space = line[: len(line) - len(line.lstrip())]
                if line.strip() in ("$body", "$globals"):
                    inner = body if line.strip() == "$body" else f"{words}\n"
                    text += indent(inner.replace("$", "$$"), space)
                else:
                    text += f"{line}\n"
        if self.group == "call":
            caught = rf"\1try: \2\n\1{CAUGHT}".rstrip("\n") if self.caught else r"\1\2"
            text = re.sub(r"^( *)\$try (.*)$", caught, text, flags=re.MULTILINE)
        text = Template(text).substitute(dict(self.names))
        before = f"{self.new} = {dict(self.names)['v']}\n" if self.new else ""
        title = f"# {self.group}: {self.name}\n"
        if self.group in ("value", "hook"):
            return f"{title}{before}try:\n{indent(text, '    ')}{CAUGHT}"
        return title + text


def _assigned(body: str) -> set[str]:
    """The names that the top level of ``body`` assigns."""
    table = symtable.symtable(body, PROGRAM, "exec")
    return {each.get_name() for each in table.get_symbols() if each.is_assigned()} | {
        each.get_name() for each in table.get_symbols() if each.is_imported()
    } or {"nothing"}


def program_text(statements: str) -> str:
    """The source of a program of ``statements``."""
    return f"{HEADER.replace('LIMIT', str(LIMIT))}{statements}end()\n"


class Program(NamedTuple):
    """A program: statements, and whether warnings are errors from its start."""

    statements: tuple[Statement, ...]
    strict: bool = False

    def text(self) -> str:
        """The program as source."""
        return program_text("".join(each.text() for each in self.statements))

    def pieces(self) -> set[str]:
        """The pieces that it is made of."""
        every = [*self.statements, *[e for each in self.statements for e in each.body]]
        return {f"{each.group}: {each.name}" for each in every}


class _Maker:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.values = ["v0"]
        self.count = 0

    def statement(self, group: str, body: tuple[Statement, ...] = (), name: str = "") -> Statement:
        rng = self.rng
        self.count += 1
        name = name or rng.choice(list(GROUPS[group]))
        new = f"v{self.count}" if group == "value" else ""
        names = {
            "k": str(self.count),
            "v": self.values[-1] if rng.random() < 0.7 else rng.choice(self.values),
            "u": rng.choice([*self.values, *LEAVES]),
            "leaf": rng.choice(LEAVES),
            "new": new,
        }
        if new:
            self.values.append(new)
        return Statement(group, name, new, tuple(names.items()), body, rng.random() < 0.95)

    def program(self) -> Program:
        rng = self.rng
        made: list[Statement] = []
        if rng.random() < 0.3:
            made.append(self.statement("replacement"))
        for number in range(rng.choice([1, 1, 2])):
            if number and rng.random() < 0.8:  # of a graph of its own
                self.values = list(LEAVES)
            for _ in range(rng.randint(1, 5)):
                if rng.random() < 0.15:
                    inner = [self._inside(k) for k in range(rng.randint(1, 3))]
                    made.append(self.statement("around", tuple(inner)))
                else:
                    made.append(self.statement("value"))
                if rng.random() < 0.4:
                    made.append(self.statement("hook"))
            made += [self.statement("call") for _ in range(rng.choice([1, 1, 1, 2]))]
        if rng.random() < 0.5:
            made.append(self.statement("after"))
        return Program(tuple(made), rng.random() < 0.08)

    def _inside(self, number: int) -> Statement:
        group = "value" if not number else self.rng.choice(["value", "hook", "call"])
        return self.statement(group)


def random_program(seed: int) -> Program:
    """Make the program of a seed."""
    return _Maker(random.Random(seed)).program()


def program_of(group: str, name: str) -> Program:
    """Make a program of a single piece, and a call."""
    maker = _Maker(random.Random(0))
    if group == "after":
        return Program((maker.statement("call", name="backward"), maker.statement(group, (), name)))
    body = (maker.statement("value", name="sin times"),) if group == "around" else ()
    first = maker.statement(group, body, name)
    call = (maker.statement("call", name="backward"),)
    return Program((first, *(call if group != "call" else ())))


# the commands

COMMANDS = (
    ("check",), ("check", "--call", "all"), ("check", "--derivatives"),
    ("why", "--call", "last"), ("film", "--call", "last", "-o", "out.svg"),
    ("render", "--call", "last", "-o", "out.svg"),
    ("render", "--values", "--call", "last", "-o", "out.svg"),
    ("render", "--call", "grad:last", "-o", "out.svg"),
    ("render", "--profile", "--call", "last", "-o", "out.svg"),
    ("record", "-o", "out.gsr"), ("record", "--call", "all", "--values", "all", "-o", "out.gsr"),
    ("record", "--when", "nan", "-o", "out.gsr"),
    ("debug", "--fail-on", "nan,inf"), ("debug", "--fail-on", "rms > 1e30"),
    ("debug", "--batch", "--grad", "--ex", "continue"),
    ("debug", "--batch", "--no-replay", "--ex", "next 2", "--ex", "info leaves"),
    ("debug", "--batch"), ("debug", "--batch"),
)  # fmt: skip
"""The commands; one that only says ``--batch`` is given a random walk."""
FINDS = {"check", "why"}
NO_CALL = "ended without calling"
ADDED = re.compile(
    r" \((the call at|the loss requires no gradient:|gradstep check names the line) .*\)$",
    re.MULTILINE,
)
"""What the commands add to what PyTorch says of a call that it refuses."""
AT_THE_END = ("> Dies", "> a value of the program died", "> finally")
"""What a program tells when it ends, wherever that is."""


def random_command(rng: random.Random) -> list[str]:
    """Choose a command, with all its options."""
    words = [*rng.choice(COMMANDS)]
    if words == ["debug", "--batch"]:
        words += ["--grad"] if rng.random() < 0.5 else []
        for line in ["next", *random_lines(rng)[:15]]:
            words += ["--ex", line]
    return words


class Ended(NamedTuple):
    """What a run of a program left."""

    code: int
    told: list[str]
    counts: dict[str, int]
    warnings: Counter[str]
    trace: list[str]
    stopped: bool

    @classmethod
    def of(cls, done: CompletedProcess[str], folder: Path) -> Ended:
        """Read it from what the process printed."""
        out, err = (
            re.sub(r" at 0x[0-9a-f]+", "", text.replace(f"{folder}/", ""))
            for text in (done.stdout, done.stderr)
        )
        before, _, late = out.rpartition("\ncounts:")
        told = [line for line in before.splitlines() if line.startswith("> ")]
        # where the program makes no call, a command makes one of its loss: checkpoints run again
        told += [line for line in late.splitlines() if line.startswith("> ") and line not in told]
        counts = re.findall(r"^counts: (\{.*\})$", out, re.MULTILINE)
        numbers = re.findall(r"'([^']+)': (\d+)", counts[-1]) if counts else []
        # where it is told inside of PyTorch depends on its modes
        warned = re.findall(r"^\S*?(train.py:\d+|:\d+): (\w*Warning: .*)$", err, re.MULTILINE)
        lines = re.findall(r'File "train.py", line \d+', err)
        err = ADDED.sub("", err)
        last = re.findall(r"^(\w+(?:Error|Exit|Interrupt)\b.*)$", err, re.MULTILINE)
        return cls(
            done.returncode,
            told,
            {name: int(number) for name, number in numbers},
            Counter(f"{'' if place[0] == ':' else place} {what}" for place, what in warned),
            [*lines, *last],
            "which ended the run" in out,
        )


def difference(plain: Ended, ours: Ended, command: list[str], stderr: str) -> str:
    """Say what is not as plainly, "" for nothing."""
    wrong = []
    if "defect of gradstep" in stderr:
        at = stderr.index("defect of gradstep")
        wrong.append(f"defect: {stderr[max(0, at - 300) : at + 900]}")
    codes = {plain.code}
    if command[0] in FINDS or "--fail-on" in command:
        codes.add(5)
    if not plain.code and (command[0] in ("why", "render", "film") or NO_CALL in stderr):
        codes.add(3)
    if "--ex" in command and re.search(r"^gradstep: --ex: ", stderr, re.MULTILINE):
        codes.add(2)  # a line that cannot be carried out where it stands
    if ours.code not in codes:
        wrong.append(f"exit code: plain {plain.code}, {ours.code}: {stderr[-600:]}")
    # what is found, a NaN under `check`, and a wrong line end the program where they stand
    if "--values" in command:  # which keeps values of the forward pass
        plain, ours = (
            each._replace(told=[line for line in each.told if not line.startswith("> freed:")])
            for each in (plain, ours)
        )
    ends = ours.code == 2 or (ours.code == 5 and (command[0] in ("debug", "why") or ours.stopped))
    if ends:
        plain, ours = (
            each._replace(told=[line for line in each.told if not line.startswith(AT_THE_END)])
            for each in (plain, ours)
        )
    told = ours.told
    ran_again = command[0] == "check" or " ran twice, " in stderr
    if ends and ran_again:  # to find where a NaN began, the last call ran once more
        at = next((at for at, lines in enumerate(zip(plain.told, told)) if len({*lines}) > 1), 0)
        told = told[:at] if at and {*told[at:]} <= {*told[:at]} else told
    if ends and "errors.ScriptDone" in stderr:  # what ends it was raised in a finalizer, and lost
        return "\n".join(wrong)
    if told != (plain.told[: len(told)] if ends else plain.told):
        wrong.append(_first(plain.told, told))
    if ends:
        return "\n".join(wrong)
    if plain.trace != ours.trace:
        wrong.append(f"traceback: {_first(plain.trace, ours.trace)}\n{stderr[-900:]}")
    if plain.warnings != ours.warnings:
        fewer, more = plain.warnings - ours.warnings, ours.warnings - plain.warnings
        wrong.append(f"warnings: missing {dict(fewer)}, more {dict(more)}")
    for name, number in plain.counts.items():
        if not number <= ours.counts.get(name, 0) <= 2 * number:
            wrong.append(f"calls of {name}: plain {number}, {ours.counts.get(name)}")
    return "\n".join(wrong)


def _first(plain: list[str], ours: list[str]) -> str:
    for number, (one, two) in enumerate(zip(plain, ours)):
        if one != two:
            before = plain[max(0, number - 2) : number]
            return f"told after {before}: plain {one[:400]!r}, {two[:400]!r}"
    more = plain[len(ours) :] or ours[len(plain) :]
    return f"told: plain {len(plain)}, {len(ours)} lines: {more[:2]}"


class Outcome(NamedTuple):
    """What is wrong under a command."""

    command: list[str]
    wrong: str


def check(program: Program, commands: Iterable[list[str]]) -> list[Outcome]:
    """Run ``program`` plainly and under each command, and list what is not the same."""
    return check_text(program.text(), commands, strict=program.strict)


def check_text(text: str, commands: Iterable[list[str]], *, strict: bool = False) -> list[Outcome]:
    """Do so with the source of a program; ``strict`` makes errors of warnings."""
    commands = list(commands)
    with tempfile.TemporaryDirectory() as name:
        runs, folders = [], []
        for number, command in enumerate([[], *commands]):
            folder = Path(name, str(number))
            folder.mkdir()
            (folder / PROGRAM).write_text(text, "utf-8")
            start = ["-m", "gradstep", *command] if command else []
            leaf = ["x1"] if command[:1] == ["why"] else []
            runs.append([*(["-W", "error"] if strict else []), *start, PROGRAM, *leaf])
            folders.append(folder)
        first, *others = run_beside(runs, folders)
        plain = Ended.of(first, folders[0])
        return [
            Outcome(command, wrong)
            for command, done, folder in zip(commands, others, folders[1:])
            if (wrong := difference(plain, Ended.of(done, folder), command, done.stderr))
        ]


def shrink(program: Program, outcome: Outcome, tries: int = 60) -> tuple[Program, Outcome]:
    """Drop statements as long as something of the same kind is wrong."""
    kind = outcome.wrong.partition(":")[0]
    progress = True
    while progress and tries:
        progress = False
        for smaller in _smaller(program):
            tries -= 1
            if not tries:
                break
            found = check(smaller, [outcome.command])
            if found and found[0].wrong.partition(":")[0] == kind:
                program, outcome, progress = smaller, found[0], True
                break
    words = outcome.command
    while tries and "--ex" in words:
        at = max(number for number, word in enumerate(words) if word == "--ex")
        fewer = words[:at] + words[at + 2 :]
        tries -= 1
        found = check(program, [fewer])
        if not found or found[0].wrong.partition(":")[0] != kind:
            break
        outcome, words = found[0], fewer
    return program, outcome


def _smaller(program: Program) -> Iterable[Program]:
    statements = program.statements
    if program.strict:
        yield program._replace(strict=False)
    for number in reversed(range(len(statements))):
        rest = (*statements[:number], *statements[number + 1 :])
        new = [statements[number].new, *[each.new for each in statements[number].body]]
        used = [value for each in rest for _, value in each.names]
        used += [value for each in rest for e in each.body for _, value in e.names]
        if not set(filter(None, new)) & set(used):
            yield program._replace(statements=rest)
        elif statements[number].new and statements[number].name != "sin times":
            plainer = statements[number]._replace(name="sin times")
            yield program._replace(
                statements=(*statements[:number], plainer, *statements[number + 1 :])
            )
        if statements[number].body:
            flat = (*statements[:number], *statements[number].body, *statements[number + 1 :])
            yield program._replace(statements=flat)


def explained(seed: int, program: Program, outcome: Outcome) -> str:
    """Say what is wrong, with a program to save."""
    words = " ".join(f"'{word}'" if " " in word else word for word in outcome.command)
    text = program.text().removeprefix(HEADER.replace("LIMIT", str(LIMIT)))
    return (
        f"=== seed {seed}{' -W error' if program.strict else ''}: {words}\n{text}\n{outcome.wrong}"
    )


def commands_of(seed: int, count: int) -> list[list[str]]:
    """The commands that a seed's program runs under."""
    rng = random.Random(-1 - seed)
    return [random_command(rng) for _ in range(count)]
