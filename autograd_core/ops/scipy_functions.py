"""Functions of SciPy, by which some operators compute. SciPy is an extra of the package.

It takes as long to import as our core, and is imported when the first of these operators runs.
"""

from __future__ import annotations

import importlib
import math
from functools import cache
from typing import Any, Final

import numpy as np

_BY_PYTHON: Final = {
    "erf": math.erf,
    "erfc": math.erfc,
    "ndtr": lambda x: 0.5 * math.erfc(-x * math.sqrt(0.5)),
}
"""Functions that Python has, too: as exact, and the same in float32, but seven times slower."""


def from_scipy(module: str, name: str) -> Any:
    """Return ``scipy.module.name``.

    Raises:
        ImportError: SciPy is not installed.
    """
    try:
        return getattr(importlib.import_module(f"scipy.{module}"), name)
    except ImportError as error:
        because = "" if error.name == "scipy" else f" ({error})"
        raise ImportError(
            f"this operator needs scipy.{module}.{name}, and SciPy is not installed{because}; "
            'pip install "gradstep[scipy]"',
            name="scipy",
        ) from None


@cache
def _special(name: str) -> Any:
    """Return a special function of SciPy's, or Python's where there is no SciPy."""
    try:
        return from_scipy("special", name)
    except ImportError:
        if name not in _BY_PYTHON:
            raise
        return np.frompyfunc(_BY_PYTHON[name], 1, 1)


def special(name: str, *arguments: Any) -> Any:
    """Compute a special function of SciPy's, in the dtype of its arguments."""
    with np.errstate(all="ignore"):
        result = np.asarray(_special(name)(*arguments))
    return result.astype(np.result_type(*arguments), copy=False)
