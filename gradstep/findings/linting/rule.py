"""What a rule of ``check`` consists of: the function that finds, and the texts that explain."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

from gradstep.findings.linting.finding import Finding, Severity

Facts = TypeVar("Facts")


class Meaning(NamedTuple):
    """The texts of a finding: a title of a few words, what it means, a wrong and a right program,
    and when to ignore it, "" if never; ``severity`` is the usual one."""

    code: str
    severity: Severity
    title: str
    means: str
    wrong: str
    right: str
    ignore: str = ""


class Rule(Generic[Facts]):
    """A function from a graph, or from the facts of a run, to findings, and what these mean.

    A finding that several rules yield is explained by one of them.
    """

    def __init__(self, find: Callable[[Facts], Iterable[Finding]], *meanings: Meaning) -> None:
        self.find = find
        self.meanings = meanings
