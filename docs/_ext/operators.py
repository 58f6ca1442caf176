"""``.. operator-table::`` lists the ops of each family, as their entries declare them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from generated import Generated, escaped, heading
from sphinx.application import Sphinx

from autograd_core.op import OPS, Op
from autograd_core.op.public import names_of
from tui.commands.ops import import_all, rules, signature


class OperatorTable(Generated):
    """A section for each family, in it each op as its entry declares it."""

    def lines(self) -> Iterator[str]:
        import_all()
        families: dict[str, list[Op]] = {}
        for op in OPS.values():
            families.setdefault(op.function.__module__.rpartition(".")[2], []).append(op)
        for family in sorted(families):
            yield from heading(family.replace("_", " ").capitalize())
            for op in families[family]:
                yield from entry_lines(op)


def entry_lines(op: Op) -> Iterator[str]:
    """Describe an op as its entry declares it."""
    yield f"``{signature(op)}``"
    yield f"    {escaped(' '.join(op.doc.split(chr(10) * 2)[0].split()))}"
    yield ""
    if names := names_of(op):
        yield f"    | {', '.join(f'``{name}``' for name in names)}"
    for edge, text in rules(op):
        yield f"    | by ``{edge}``: ``{text}``"
    if op.edges:
        saved = ", ".join(f"``{name}``" for name in (*op.saved, *op.saved_plain)) or "nothing"
        yield f"    | ``{op.node_name}`` saves {saved}"
    else:
        yield "    | no gradient passes"
    yield ""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive with Sphinx."""
    app.add_directive("operator-table", OperatorTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
