"""Where the engine of each library is; :mod:`gradstep` registers those that come with it."""

HOMES: dict[str, str] = {}
"""By the name under which programs import a library: module and name of its engine."""
TRACING: dict[str, str] = {}
"""By the same name: module and name of what traces a library, once that is imported."""
TENSORS: set[str] = set()
"""The classes of tensors, as ``module:name``, that have no ``grad_fn`` by which to know them."""


def register(library: str, home: str, *tensors: str, tracing: str = "") -> None:
    """Have tensors of ``library`` read by the engine at ``home``, ``module:name``, which is loaded
    with the first of them.

    The engine follows :class:`gradstep.contract.protocol.Engine`.  ``tensors`` are classes that are
    tensors although they have no attribute ``grad_fn``.  ``tracing`` is a context manager in which
    ops are traced; it takes the arguments of :func:`gradstep.trace`.  Beside it, ``scope`` is that
    of :func:`gradstep.scope` for these ops.
    """
    HOMES[library] = home
    TENSORS.update(tensors)
    if tracing:
        TRACING[library] = tracing
