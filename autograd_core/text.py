"""Words that several parts of the program say in the same way."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def plural(count: int, one: str, many: str = "") -> str:
    """Count something in words.

    >>> plural(1, "leaf", "leaves"), plural(2990, "node")
    ('1 leaf', '2,990 nodes')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def did_you_mean(
    text: str,
    words: Iterable[str],
    *,
    most: int = 1,
    cutoff: float = 0.6,
    otherwise: str = "",
) -> str:
    """Ask for the ``most`` words that look like ``text``, or say ``otherwise`` if none does.

    ``cutoff`` is the least similarity, from 0 to 1; upper and lower case count as the same.

    >>> did_you_mean("brake", ["break", "back"])
    'did you mean break?'
    >>> did_you_mean("xyz", ["break", "back"], otherwise="help lists them")
    'help lists them'
    """
    by_lower = {word.lower(): word for word in words}
    closest = get_close_matches(text.lower(), by_lower, n=most, cutoff=cutoff)
    return (
        f"did you mean {', '.join(by_lower[word] for word in closest)}?" if closest else otherwise
    )
