"""Words that several parts of the program say in the same way."""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache, wraps
from typing import Any, Final, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
WIDTH: Final = 80
"""Columns of a terminal, for which texts are written."""


def plural(count: int, one: str, many: str = "") -> str:
    """Count something in words.

    >>> plural(1, "leaf", "leaves"), plural(2990, "node")
    ('1 leaf', '2,990 nodes')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(names: Sequence[str], most: int = 5, last: str = " and ") -> str:
    """Return names as in a sentence: the first ``most`` of many, and how many more there are.

    >>> listed(["a"]), listed(["a", "b"]), listed(list("abcdefgh"))
    ('a', 'a and b', 'a, b, c, d, e and 3 more')
    >>> listed(["#1", "#2"], last=", ")
    '#1, #2'
    """
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return last.join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def which_tensor(name: str, names: Iterable[str], most: int = 3) -> str:
    """Ask for the tensors of ``names`` that end with ``name``, or look like it; "" for none.

    >>> which_tensor("bias", ["up.bias", "down.bias", "up.weight"])
    'did you mean up.bias, down.bias?'
    >>> which_tensor("up.wieght", ["up.bias", "up.weight"])
    'did you mean up.weight?'
    """
    listed = list(names)
    ends = [full for full in listed if full.endswith(f".{name}")]
    if not ends:
        return did_you_mean(name, listed, cutoff=0.8)
    more = f" ({len(ends) - most} more)" if len(ends) > most else ""
    return f"did you mean {', '.join(map(printable, ends[:most]))}{more}?"


def in_shell(program: Sequence[str]) -> str:
    """Write a TARGET and what follows it as a shell takes them; ``-m package`` is one such word.

    >>> in_shell(["-m package", "6"]), in_shell(["my net.py", "*"])
    ('-m package 6', "'my net.py' '*'")
    """
    option = "-m " if program[0].startswith("-m ") else ""
    return option + shlex.join([program[0].removeprefix(option), *program[1:]])


def did_you_mean(
    text: str, words: Iterable[str], *, most: int = 1, cutoff: float = 0.6, otherwise: str = ""
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
    meant = ", ".join(printable(by_lower[word]) for word in closest)
    return f"did you mean {meant}?" if closest else otherwise


def suggests(function: F) -> F:
    """Have a function that gets a keyword which it does not take name one that looks like it.

    >>> @suggests
    ... def draw(*, view="both"): ...
    >>> draw(veiw="forward")
    Traceback (most recent call last):
    TypeError: draw() got an unexpected keyword argument 'veiw'; did you mean view?
    """
    code, more = function.__code__, getattr(function, "__signature__", None)
    taken = frozenset(
        code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if more is None
        else more.parameters
    )

    @wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        for name in named.keys() - taken:
            hint = did_you_mean(name, taken)
            raise TypeError(
                f"{function.__name__}() got an unexpected keyword argument {name!r}"
                f"{hint and f'; {hint}'}"
            )
        return function(*given, **named)

    return cast("F", called)


def printable(text: str) -> str:
    """Make one line of printable text: line breaks become ⏎, other control characters �.

    >>> printable("two\\nlines"), printable("bell\\a"), printable("\\x1b[31mred")
    ('two⏎lines', 'bell�', '�[31mred')
    """
    if text.isprintable():
        return text
    return "".join(map(_printable, text.replace("\r\n", "\n")))


def printable_lines(text: str) -> str:
    """Do the same to each line of a text, whose line breaks stay.

    >>> printable_lines("bell\\a\\nnext line\\n")
    'bell�\\nnext line\\n'
    """
    return "\n".join(map(printable, text.split("\n")))


@lru_cache(maxsize=1024)
def _printable(character: str) -> str:
    if character in "\n\r\u2028\u2029":
        return "⏎"
    if character == "\t":
        return " "
    # controls, lone surrogates and unassigned code points; also what turns the reading direction
    if unicodedata.category(character) in ("Cc", "Cs", "Cn") or character in _TURNS:
        return "\N{REPLACEMENT CHARACTER}"
    return character


_TURNS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
