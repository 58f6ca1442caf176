"""``.. stubs::`` lists the names that programs use and that do nothing here, as compat has them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from generated import Generated, escaped
from sphinx.application import Sphinx

from autograd_core.compat import MODULES, NAMES
from autograd_core.compat.kinds import Names

_VALUE = "A value that may be set, without effect."


class Stubs(Generated):
    """For each module what its names do, and which names do it."""

    def lines(self) -> Iterator[str]:
        for path in sorted({*MODULES, *NAMES}):
            names = {**NAMES.get(path, {}), **MODULES.get(path, {})}
            if names:
                yield f"``{f'torch.{path}'.rstrip('.')}``"
                for doc, those in _by_doc(names).items():
                    yield f"    | {', '.join(f'``{name}``' for name in those)}: {escaped(doc)}"
                yield ""


def _by_doc(names: Names) -> dict[str, list[str]]:
    """The names, by the first paragraph of their docstrings, or of their class's."""
    found: dict[str, list[str]] = {}
    for name, value in names.items():
        ours = getattr(value, "__module__", "").startswith("autograd_core.compat")
        if ours or not (callable(value) or inspect.ismodule(value)):
            doc = (ours and inspect.getdoc(value)) or _VALUE
            found.setdefault(" ".join(doc.split("\n\n")[0].split()), []).append(name)
    return found


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive with Sphinx."""
    app.add_directive("stubs", Stubs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
