"""Which extras of gradstep are installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

from gradstep.extras import EXTRA_OF


def missing_extras(names: Sequence[str]) -> list[str]:
    """The extras among these that are not installed, or not whole."""
    needed = {module: extra for module, extra in EXTRA_OF.items() if extra in names}
    missing = {extra for module, extra in needed.items() if not importlib.util.find_spec(module)}
    return sorted(missing)


def reason_to_skip(missing: list[str]) -> str:
    """Why a test is skipped that needs what is missing."""
    return f"not installed: the extra {' and '.join(missing)} of gradstep"
