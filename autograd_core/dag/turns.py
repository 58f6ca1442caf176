"""The one numbering that people see: ``#1`` is the node that runs first in the backward pass.

Records and methods hold the same as an index of the plan, from 0 on.
"""

from __future__ import annotations


def turn(index: int) -> str:
    """What people call the node at ``index`` of the plan.

    >>> turn(0)
    '#1'
    """
    return f"#{index + 1}"


def index_of(turn: str) -> int | None:
    """The index in the plan of the node that goes by ``turn``; None where that is no turn.

    >>> index_of("#1"), index_of("#0"), index_of("mul")
    (0, None, None)
    """
    number = turn[1:]
    counted = turn.startswith("#") and number.isdecimal() and int(number) > 0
    return int(number) - 1 if counted else None


def before(position: int, length: int) -> str:
    """Where one stands when ``position`` of ``length`` nodes have run.

    >>> before(0, 3), before(3, 3)
    ('before #1', 'at the end')
    """
    return f"before {turn(position)}" if position < length else "at the end"


def all_turns(length: int) -> str:
    """Which turns there are in a plan of ``length`` nodes.

    >>> all_turns(3), all_turns(0)
    ('they run as #1 to #3', 'nothing runs backward here')
    """
    return (
        f"they run as {turn(0)} to {turn(length - 1)}" if length else "nothing runs backward here"
    )
