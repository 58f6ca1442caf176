"""What every test shares: how hard Hypothesis tries, and when a marked test is skipped."""

from __future__ import annotations

import importlib.util
import shutil

import pytest
from hypothesis import settings

# `ci` is the default everywhere: few examples, always the same ones. README.md names the command
# for `full`, which looks for new ones every time.
settings.register_profile("ci", max_examples=25, deadline=None, derandomize=True, database=None)
settings.register_profile("full", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile("ci")

NEEDS = {
    "torch": (importlib.util.find_spec("torch") is not None, "PyTorch is not installed"),
    "dot": (shutil.which("dot") is not None, "`dot` is not on PATH"),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, with the reason, what needs something that this machine does not have."""
    for item in items:
        for name, (present, reason) in NEEDS.items():
            if not present and item.get_closest_marker(name):
                item.add_marker(pytest.mark.skip(reason=reason))
