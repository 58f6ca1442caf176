"""Whatever is set, looked at and moved, a program ends as it does plainly: random programs, random
walks, on every driver.

``GRADSTEP_LAW=3000`` checks as many programs for each driver; ``python -m tests.laws`` says how
many moves were made.
"""

from __future__ import annotations

import os

import pytest

from tests.laws.law import Case, shrink, watched
from tests.laws.walks import KINDS

MANY = int(os.environ.get("GRADSTEP_LAW", "20"))
EACH = 10  # seeds of one test


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("kind", "first"),
    [
        pytest.param(name, first, marks=pytest.mark.torch if kind.library == "torch" else ())
        for name, kind in KINDS.items()
        for first in range(0, MANY, EACH)
    ],
)
def test_a_program_that_is_debugged_ends_as_it_does_plainly(kind: str, first: int) -> None:
    for seed in range(first, first + EACH):
        case = Case.of(seed, kind)
        found = watched(case)
        if found.wrong:
            case, found = shrink(case, found, 100)
            pytest.fail(f"seed {seed}\n{case.text()}\n{found.wrong}", pytrace=False)


def test_a_case_is_the_same_for_a_seed() -> None:
    assert [Case.of(seed, "live") for seed in (1, 2)] == [Case.of(seed, "live") for seed in (1, 2)]
    assert Case.of(1, "live") != Case.of(2, "live")
