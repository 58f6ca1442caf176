"""Where the engine of each library is; :mod:`gradstep` registers those that come with it.

A *home* is ``module:name``, imported when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself is imported for types only
if TYPE_CHECKING:
    from typing import Any

HOMES: dict[str, str] = {}
"""By the name under which programs import a library: the home of its engine."""
TRACING: dict[str, str] = {}
"""By the same name: the home of what traces a library, once that is imported."""
TENSORS: set[str] = set()
"""The classes of tensors, as ``module:name``, that have no ``grad_fn`` by which to know them."""
EVENTS: dict[str, str] = {}
"""By the name of a module of a library: the home of what notes what its objects do, once that
module is imported."""
INSIDES: dict[str, str] = {}
"""By the same name: the home of the :class:`~gradstep.contract.insides.Insides` of a library."""
WHOLE_PARAMETERS: dict[str, str] = {}
"""By the name of a module that cuts parameters into parts: the home of a function that yields, for
an ``nn.Module``, each part with the whole parameter that ops use in its place."""

PAGES: dict[str, str] = {}
"""By what they show: the home of what writes it as a page. Pictures are above all that they show.
"""


def register(library: str, home: str, *tensors: str, tracing: str = "", insides: str = "") -> None:
    """Have tensors of ``library`` read by the engine at ``home``, which is loaded with the first of
    them.

    The engine follows :class:`gradstep.contract.protocol.Engine`.  ``tensors`` are classes that are
    tensors although they have no attribute ``grad_fn``.  ``tracing`` is a context manager in which
    ops are traced; it takes the arguments of :func:`gradstep.trace`.  Beside it, ``scope`` is that
    of :func:`gradstep.scope` for these ops.  ``insides`` is what reads its modules.
    """
    HOMES[library] = home
    TENSORS.update(tensors)
    if tracing:
        TRACING[library] = tracing
    if insides:
        INSIDES[library] = insides


def load(home: str) -> Any:
    """Return what is at ``home``, importing its module if it has to be."""
    from importlib import import_module  # `import gradstep` does without it

    module, _, name = home.partition(":")
    return getattr(import_module(module), name)
