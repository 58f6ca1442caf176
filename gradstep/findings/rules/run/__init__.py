"""The rules over a whole run."""

from __future__ import annotations

from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.finding import Rule
from gradstep.findings.rules import rules_in

RULES: Final[tuple[Rule[Facts], ...]] = rules_in(__name__, __path__)
