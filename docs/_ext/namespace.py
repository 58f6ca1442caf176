"""``.. namespace:: MODULE`` documents the public names of a module, by topic, from docstrings.

The topic of a name is the file that it comes from.
"""

from __future__ import annotations

import importlib
import inspect
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, ClassVar

from docutils.parsers.rst import directives
from generated import Generated, heading
from sphinx.application import Sphinx

# files that are about the same thing, where a reader looks for it
_MERGED = {
    "shape": "shapes",
    "shape_functions": "shapes",
    "rearrange_functions": "rearranging",
    "reduce_functions": "reduction",
    "index_functions": "indexing",
    "copies": "shapes",
    "rearrange": "shapes",
    "diagonals": "shapes",
    "reduce": "reduction",
    "statistics": "reduction",
    "index": "indexing",
    "select": "elementwise",
    "arithmetic": "elementwise",
    "rounding": "elementwise",
    "exponential": "elementwise",
    "trigonometry": "elementwise",
    "loss": "losses",
    "dimwise": "along a dimension",
    "sorting": "along a dimension",
    "cumulative": "along a dimension",
    "norms": "products",
    "linalg": "products",
    "contractions": "products",
    "stacking": "joining",
    "inverses": "linear algebra",
    "aliases": "linear algebra",
    "reflectors": "linear algebra",
    "triangular": "linear algebra",
    "convolution": "networks",
    "native": "networks",
    "pooling": "networks",
}


class Namespace(Generated):
    """Documents functions and classes, by topic unless ``:flat:``; with ``:members:`` what classes
    have, too; ``:except:`` names those that are described elsewhere."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        "except": str.split,
        "flat": directives.flag,
        "members": directives.flag,
    }

    def lines(self) -> Iterator[str]:
        module = importlib.import_module(self.arguments[0])
        topics: dict[str, list[str]] = defaultdict(list)
        for name in sorted(set(module.__all__) - set(self.options.get("except", ()))):
            value = getattr(module, name)
            if callable(value) and value.__doc__:
                own = value.__module__.rpartition(".")[2]
                topics["" if "flat" in self.options else _MERGED.get(own, own)].append(name)
        for topic in sorted(topics):
            if len(topics) > 1:
                yield from heading(topic.replace("_", " ").capitalize())
            for name in topics[topic]:
                is_class = inspect.isclass(getattr(module, name))
                kind = "autoclass" if is_class else "autofunction"
                yield f".. {kind}:: {module.__name__}.{name}"
                yield from ["   :members:"] * (is_class and "members" in self.options)
                yield ""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive with Sphinx."""
    app.add_directive("namespace", Namespace)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
