"""Programs with well-known architectures, written for PyTorch."""

from __future__ import annotations

import re
from pathlib import Path

PROGRAMS = {
    each.stem: each.read_text("utf-8")
    for each in sorted((Path(__file__).parent / "architectures").glob("*.py"))
}


def on_the_core(code: str) -> str:
    """The same program with the core's tensors."""
    code = re.sub(r"^import torch$", "import autograd_core as torch", code, flags=re.MULTILINE)
    return re.sub(r"^from torch\b", "from autograd_core", code, flags=re.MULTILINE)
