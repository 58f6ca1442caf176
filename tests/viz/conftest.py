"""Graphs to draw, built by hand through the seam that every capture fills."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden files from what is drawn"
    )
