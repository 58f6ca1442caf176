"""The gallery.

``.. exhibit:: program.py:name`` shows a program, and its graph three times; its options are those
of ``autograd-graph`` that say how much is drawn.  ``.. exhibits::`` lists the pages inside it, each
with a small picture.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from docutils.parsers.rst import directives
from generated import Generated, heading
from sphinx.application import Sphinx

_VIEWS = {
    "forward": "Forward",
    "backward": "Backward",
    "both": "Both, with the saved tensors between them",
}


class Exhibit(Generated):
    """The docstring of a program as prose, its code, and its graph in every view."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = dict.fromkeys(
        ("depth", "leaves", "max-boxes"), directives.unchanged
    )

    def lines(self) -> Iterator[str]:
        file, _, name = self.arguments[0].rpartition(":")
        path = Path(self.env.doc2path(self.env.docname)).parent / file
        self.env.note_dependency(str(path))
        module = ast.parse(path.read_text(encoding="utf-8"))
        yield ast.get_docstring(module) or ""
        yield from ["", f".. literalinclude:: {file}", f"   :lines: {module.body[1].lineno}-", ""]
        for view, title in _VIEWS.items():
            yield from heading(title)
            yield from [f".. autograd-graph:: {file}:{name}", f"   :view: {view}"]
            if view != "forward":
                yield "   :step: all"
            yield from (f"   :{name}: {value}" for name, value in self.options.items())
            yield ""


class Exhibits(Generated):
    """A contents of the pages that are named inside, and a card for each."""

    has_content = True

    def lines(self) -> Iterator[str]:
        yield from [".. toctree::", "   :hidden:", "", *(f"   {page}" for page in self.content), ""]
        yield from [".. container:: exhibits", ""]
        folder = Path(self.env.doc2path(self.env.docname)).parent
        for page in self.content:
            text = (folder / f"{page}.rst").read_text(encoding="utf-8")
            shown = re.search(r"exhibit:: (\S+)((?:\n   :.*)*)", text)
            assert shown is not None, f"{page} has no exhibit"
            own = [option.strip() for option in shown[2].splitlines() if option]
            yield from ["   .. container::", "", f"      :doc:`{page}`", ""]
            yield f"      .. autograd-graph:: {shown[1]}"
            for option in (":view: both", ":step: all", ":width: 100%", *own):
                yield f"         {option}"
            yield ""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives with Sphinx."""
    app.add_directive("exhibit", Exhibit)
    app.add_directive("exhibits", Exhibits)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
