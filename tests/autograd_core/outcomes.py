"""What a program comes to, in this core or in PyTorch, as plain data that can be compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

Program = Callable[[Any], Any]


class Error(NamedTuple):
    """The class of an error, and how its text begins."""

    name: str
    text: str = ""


def outcome(torch: Any, program: Program) -> Any:
    """What ``program(torch)`` returns, tensors as lists and nodes as names; or how it fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _plain(program(torch))
        except Exception as error:
            return Error(type(error).__name__, str(error))


def expect(found: Any, expected: Any) -> None:
    """Hold an outcome to what is expected; of an error, to the beginning of its text."""
    if isinstance(expected, Error) and isinstance(found, Error):
        found = Error(found.name, found.text[: len(expected.text)])
    assert found == expected


def each(cases: Mapping[Program, Any]) -> Any:
    """Parametrize a test over programs and their outcomes, by the names of the programs."""
    return pytest.mark.parametrize(
        ("program", "expected"), cases.items(), ids=lambda value: getattr(value, "__name__", "")
    )


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "next_functions"):
        return value.name()
    return value
