"""The rules over one graph."""

from __future__ import annotations

from typing import Final

from gradstep.findings.finding import Rule
from gradstep.findings.rules import rules_in
from gradstep.findings.rules.graph.subject import Subject

RULES: Final[tuple[Rule[Subject], ...]] = rules_in(__name__, __path__)
