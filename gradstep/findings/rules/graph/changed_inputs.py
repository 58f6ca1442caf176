"""Inputs of modules that these change in place, and that the program uses again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gradstep.contract.op_records import IN_PLACE, OpRecord
from gradstep.findings.facts import Forward
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.rules.graph.subject import Subject
from gradstep.findings.source_lines import calls_with


@dataclass(frozen=True)
class ChangedInput(Reason):
    """A ``module`` changes its input with ``name``, and ``user`` uses that again."""

    code = "changed-input"
    blames_line = True
    helps = "leave out inplace=True in the first layer of that module"
    module: str
    name: str
    user: str

    def text(self) -> str:
        return (
            f"{self.module} changes its input in place, with {self.name}(inplace=True), and "
            f"{self.user} uses that input again: it gets the changed values"
        )


def find_changed_inputs(subject: Subject) -> Iterator[Reason]:
    """Yield an op that changes in place what a module was given, where the module goes on with the
    result, and the program uses its input again, as in a skip connection."""
    users: dict[OpRecord, list[OpRecord]] = defaultdict(list)
    ops = [record for record in subject.records if isinstance(record, OpRecord)]
    for op in ops:
        for origin in op.inputs:
            if isinstance(origin, tuple) and isinstance(origin[0], OpRecord):
                users[origin[0]].append(op)
    for op in ops:
        given = op.inputs[0] if op.inputs else None
        is_change = any(op.attributes.get(name) for name in IN_PLACE) and op.requires_grad
        if not is_change or not isinstance(given, tuple) or not isinstance(given[0], OpRecord):
            continue
        if (changed := _changed_by(subject, op, given[0], users[op])) is not None:
            yield changed
            return


def _changed_by(
    subject: Subject, op: OpRecord, given: OpRecord, users: Sequence[OpRecord]
) -> ChangedInput | None:
    """Return the innermost module whose input an op changes, and that is used outside of it."""
    scopes = [f"{subject.names.scope(record.scope)}." for record in (op, given, *users)]
    parts = scopes[0].split(".")[:-2]
    for depth in range(len(parts), 0, -1):
        module = ".".join(parts[:depth])
        own, before, *after = [scope.startswith(f"{module}.") for scope in scopes]
        if own and not before and any(after) and not all(after):
            calls = calls_with("inplace", op.source.file) if op.source is not None else []
            again = next(use for use, is_in in zip(users, after, strict=True) if not is_in)
            return ChangedInput(
                module, op.name.rstrip("_"), again.name, source=again.source or op.source,
                other=calls[0] if calls else None,
            )  # fmt: skip
    return None


RULES: Final = (
    Rule(find_changed_inputs, Meaning(
        "changed-input", "warning", "a module changes its input, and the input is used again",
        "The first layer of a branch works in place, so the skip connection next to it carries "
        "the result instead of the input.",
        "x + nn.Sequential(nn.ReLU(inplace=True), nn.Linear(8, 8))(x)",
        "x + nn.Sequential(nn.ReLU(), nn.Linear(8, 8))(x)",
        "When both places should use the changed value.",
    ), needs=(Forward,)),
)  # fmt: skip
