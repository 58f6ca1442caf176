"""What users call an op or a function: its names and forms, bound where it is declared.

An entry of the op table says so by its options ``variants`` and ``aliases``, a plain function in
front of entries, or made of them, under :func:`public`::

    @public("function method", aliases="swapdims")
    def swapaxes(self, dim0, dim1): ...

The words of ``variants`` are those of PyTorch's native_functions.yaml, and one for each kind of
in-place form.  From them follow ``torch.NAME``, ``Tensor.NAME`` and ``Tensor.NAME_``, their
signatures in the stub files (``op.stub``), and what the documentation says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, Final, NamedTuple, TypeVar

from autograd_core.op.keywords import torch_form
from autograd_core.op.out import check_option
from autograd_core.op.record import OPS, Op, OutOption
from autograd_core.tensor import Tensor
from autograd_core.tensor.inplace import inplace
from autograd_core.tensor.inplace_views import inplace_view

F = TypeVar("F", bound=Callable[..., Any])


class Public(NamedTuple):
    """A function that users call: its names in the namespaces of PyTorch, the first its own
    (``sigmoid``, ``special.expit``), and the forms that it has under each name without a dot."""

    function: Callable[..., Any]
    names: tuple[str, ...]
    variants: tuple[str, ...]

    def spelled(self) -> list[str]:
        """Return everything that this gives, as users write it."""
        names = []
        for name in self.names:
            if "function" in self.variants or "." in name:
                names.append(f"torch.{name}")
            if "." not in name:
                names += [f"Tensor.{name}"] * ("method" in self.variants)
                names += [f"Tensor.{name}_" for word in self.variants if word in IN_PLACE]
        return names


def _truth_values(call: Callable[..., Tensor]) -> Callable[..., Any]:
    @wraps(call)
    def truth_values(self: Tensor, *args: Any) -> Any:
        return OPS["copy"].call(self, call(self, *args).to(self.dtype))

    return truth_values


def _of_own_dtype(call: Callable[..., Tensor]) -> Callable[..., Any]:
    @wraps(call)
    def of_own_dtype(self: Tensor, *args: Any, dtype: Any = None, **keywords: Any) -> Any:
        if dtype is not None and dtype is not self.dtype:
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {self.dtype.c_name} and output tensor "
                f"dtype {dtype.c_name} should match"
            )
        kind = None if self.dtype.is_floating_point else self.dtype
        return call(self, *args, dtype=kind, **keywords)

    return of_own_dtype


PUBLIC: Final[list[Public]] = []
NAMESPACES: Final[dict[str, dict[str, Callable[..., Any]]]] = {}
"""The functions of ``torch`` (""), ``linalg`` and ``special``, by name."""

IN_PLACE: Final[Mapping[str, Callable[[Callable[..., Any], str], Callable[..., Any]]]] = {
    "inplace": inplace,
    "inplace_view": inplace_view,
    "inplace_bool": lambda call, name: inplace(_truth_values(call), name),
    "inplace_dtype": lambda call, name: inplace(_of_own_dtype(call), name),
    "inplace_fill": partial(inplace, converts=True),
}
"""The variants that are in-place forms: computed by the function; a view that the tensor becomes;
truth values as 0 and 1, where the gradient ends; a result that may be told a dtype, but must have
the tensor's; a result of any dtype."""


def public(
    variants: str = "function", aliases: str = "", name: str = "", out: OutOption = ""
) -> Callable[[F], F]:
    """Give users a function under its name, or ``name``, and under ``aliases``.

    Args:
        variants: its forms: "function", "method", and an in-place one (see ``IN_PLACE``).
        aliases: its other names, separated by blanks; they have the same forms.
        name: where it is not that of the definition: "linalg.inv" for ``torch.linalg.inv``.
        out: what it takes as ``out`` (see :mod:`autograd_core.op.out`).
    """

    def give(function: F) -> F:
        publish(function, variants, aliases, name, out)
        return function

    return give


def publish(
    function: Callable[..., Any], variants: str, aliases: str, name: str = "", out: OutOption = "",
    named: type[Any] | None = None,
) -> None:  # fmt: skip
    """Bind ``function`` as :func:`public` does; ``named`` is a named tuple for its results."""
    entry = Public(function, (name or function.__name__, *aliases.split()), tuple(variants.split()))
    unknown = sorted({*entry.variants} - {"function", "method", *IN_PLACE})
    if unknown:
        raise TypeError(f"{entry.names[0]}: no variant is called {', '.join(unknown)}")
    check_option(entry.names[0], out)
    PUBLIC.append(entry)
    call = torch_form(function, out, named)
    method = _without_keywords(function, call)
    for full_name in entry.names:
        namespace, _, own = full_name.rpartition(".")
        if namespace or "function" in entry.variants:
            NAMESPACES.setdefault(namespace, {})[own] = call
        if namespace:
            continue
        if "method" in entry.variants:
            setattr(Tensor, own, method)
        for word in entry.variants:
            if word in IN_PLACE:
                setattr(Tensor, f"{own}_", IN_PLACE[word](method, f"{own}_"))


def _without_keywords(function: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the entry itself where it takes nothing but the tensor, and so no keyword either; what
    is not pointwise may be told of a memory format."""
    op = getattr(function, "op", None)
    if op is None or len(op.values) != 1 or op.attributes or not op.pointwise:
        return call
    entry: Callable[..., Any] = op.call
    return entry


def names_of(op: Op) -> list[str]:
    """Return what users may call ``op``, or the function that it is an overload of: "torch.exp"."""
    return [
        name
        for entry in PUBLIC
        if getattr(entry.function, "op", None) is op or entry.names[0] == op.public_name
        for name in entry.spelled()
    ]


def has_inplace_function(name: str) -> bool:
    """Return whether ``torch.NAME`` is an in-place form: ``torch.abs_``."""
    return name.endswith("_") and any(
        name[:-1] in entry.names and "inplace" in entry.variants for entry in PUBLIC
    )
