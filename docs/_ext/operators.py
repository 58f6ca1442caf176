"""``.. operator-table:: FAMILY`` lists the ops of a family, as their entries declare them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from generated import Generated, escaped, heading
from sphinx.application import Sphinx

from autograd_core.op import OPS, Op
from autograd_core.op.public import names_of
from gradstep_tui.commands.ops import import_all, rules, signature

# fmt: off
FAMILIES: Final = (
    "algebra", "fourier", "indices", "losses", "networks", "pointwise", "reductions", "shaping",
)
"""The folders of the op table; each has a page."""

_HEADINGS: Final = {
    "lu": "LU decomposition", "linalg": "Matrix products", "products": "Products and sums",
    "reflectors": "Householder reflectors", "triangular": "Triangular systems",
    "fourier": "Transforms", "assign": "Assignment", "index": "Selecting elements",
    "index_along": "Indices along a dimension", "ctc": "CTC loss", "loss": "Class losses",
    "elementwise_loss": "Elementwise losses", "margin_loss": "Margin losses",
    "grid": "Sampling on a grid", "im2col": "Sliding windows", "resample": "Resampling",
    "avg_pooling": "Average pooling", "pooling": "Maximum pooling",
    "batch_norm": "Batch and group normalization",
    "normalization": "Layer normalization",
    "activation": "Activations", "elementwise": "Arithmetic and basic functions",
    "exponential": "Exponentials and logarithms",
    "select": "Choosing between values", "cumulative": "Cumulative sums and products",
    "distance": "Distances", "reduce": "Sums and means", "convert": "Dtypes", "shape": "Views",
    "rearrange": "Rearranging", "shuffle": "Shuffling channels",
}
# fmt: on
"""The titles of sections that are not the names of their modules."""


def _title(module: str) -> str:
    return _HEADINGS.get(module, module.replace("_", " ").capitalize())


class OperatorTable(Generated):
    """A section for each module of a family, in it each op as its entry declares it."""

    required_arguments = 1

    def lines(self) -> Iterator[str]:
        import_all()
        modules: dict[str, list[Op]] = {}
        for op in OPS.values():
            _, family, *module = op.function.__module__.removeprefix("autograd_core.").split(".")
            assert family in FAMILIES, f"the operators of {family} have no page"
            if family == self.arguments[0]:
                modules.setdefault(module[0] if module else family, []).append(op)
        for name in sorted(modules, key=_title):
            yield from heading(_title(name))
            for op in modules[name]:
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
