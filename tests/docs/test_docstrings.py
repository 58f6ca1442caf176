"""Each example of a docstring that the reference shows runs as it is typed, imports and all."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
TARGET = re.compile(r"^\.\. (auto\w+|namespace):: ([\w.]+)", re.MULTILINE)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def described() -> Iterator[tuple[str, Any]]:
    """What the reference describes, and what is in it."""
    for page in sorted(REFERENCE.rglob("*.rst")):
        for kind, name in TARGET.findall(page.read_text("utf-8")):
            value = pkgutil.resolve_name(name)
            yield name, value
            if kind in ("namespace", "automodule"):
                for part in getattr(importlib.import_module(name), "__all__", ()):
                    yield f"{name}.{part}", getattr(value, part)


def examples() -> dict[str, str]:
    """The docstrings with examples, by the first name under which the reference has them."""
    texts: dict[str, str] = {}
    for name, value in described():
        parts = vars(value).items() if inspect.isclass(value) else ()
        for path, part in [(name, value), *((f"{name}.{key}", part) for key, part in parts)]:
            if "._" not in path and ">>> " in (text := inspect.getdoc(part) or ""):
                texts.setdefault(text, path)
    return texts


@pytest.mark.documents  # the reference has modules that import Sphinx
def test_each_example_of_the_reference_runs_as_it_is_typed() -> None:
    runner, told = doctest.DocTestRunner(optionflags=FLAGS), list[str]()
    texts = examples()
    assert len(texts) > 30
    for text, name in texts.items():
        runner.run(doctest.DocTestParser().get_doctest(text, {}, name, None, 0), out=told.append)
    assert not told, "".join(told)
