"""What the parity tests share: each fact is stated once, and holds in both libraries."""

from __future__ import annotations

import pytest

import autograd_core

pytest.register_assert_rewrite("tests.autograd_core.outcomes")  # says what differs

for _part in ("fft", "nn", "special"):
    getattr(autograd_core, _part)  # imported when first asked for; the op table is then complete
