"""The versions of what runs."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from gradstep.guest.own_files import imported_pytorch


def own_versions() -> dict[str, str]:
    """Return those of gradstep, "" where it is not installed, Python and NumPy."""
    try:
        own = version("gradstep")
    except PackageNotFoundError:
        own = ""
    return {"gradstep": own, "python": platform.python_version(), "numpy": np.__version__}


def versions() -> dict[str, str]:
    """Return these, and that of PyTorch where the program has imported it."""
    torch = imported_pytorch()
    return own_versions() | ({} if torch is None else {"torch": str(torch.__version__)})
