"""A program does the same, and says the same, under every command: random programs of many kinds of
pieces; see :mod:`tests.laws.piece_programs`.

``--whole`` checks each piece by itself under every command, and many programs; ``python -m
tests.laws pieces FIRST LAST`` the programs of other seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.laws.piece_programs import (
    COMMANDS,
    check,
    commands_of,
    explained,
    program_of,
    random_program,
    shrink,
)
from tests.laws.pieces import GROUPS

pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.torch

PIECES = [(group, name) for group, pieces in GROUPS.items() for name in pieces]
WHOLE_COMMANDS = [
    [*words, *(("--ex", "next") if words[-1] == "--batch" else ())] for words in COMMANDS
]
SEEDS = range(400)


def test_there_are_pieces_of_many_kinds() -> None:
    assert len(PIECES) > 300
    assert len({*PIECES}) == len(PIECES)


def test_a_program_is_the_same_for_a_seed() -> None:
    assert random_program(1) == random_program(1) != random_program(2)
    assert commands_of(1, 3) == commands_of(1, 3) != commands_of(2, 3)


def test_a_program_does_under_commands_what_it_does_plainly(
    sample: Callable[[Any, int], list[Any]],
) -> None:
    wrong = []
    for seed in sample(SEEDS, 1):
        program = random_program(seed)
        for outcome in check(program, commands_of(seed, 3)):
            wrong.append(explained(seed, *shrink(program, outcome)))
    assert not wrong, "\n".join(wrong)


def test_what_a_pass_raises_behind_its_last_node_is_raised_under_every_command() -> None:
    program = program_of("hook", "a callback that raises")
    found = check(program, WHOLE_COMMANDS)
    assert not found, "\n".join(explained(0, program, outcome) for outcome in found)


def test_a_piece_does_under_commands_what_it_does_plainly(
    sample: Callable[[Any, int], list[Any]],
) -> None:
    wrong = []
    for number, (group, name) in enumerate(sample(PIECES, 2)):
        some = [WHOLE_COMMANDS[(number + step) % len(WHOLE_COMMANDS)] for step in (0, 5, 11)]
        program = program_of(group, name)
        wrong += [explained(0, program, outcome) for outcome in check(program, some)]
    assert not wrong, "\n".join(wrong)
