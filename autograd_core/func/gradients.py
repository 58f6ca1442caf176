"""Function transforms: gradients, Jacobian products, and Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.backward import grad as gradients_by
from autograd_core.autograd.dual import without_graph
from autograd_core.autograd.forward_ad import dual_level, make_dual, unpack_dual
from autograd_core.autograd.functional import jacobian
from autograd_core.autograd.grad_mode import enable_grad, is_grad_enabled
from autograd_core.autograd.graph import disable_saved_tensors_hooks
from autograd_core.func.trees import leaves_of, rebuilt, structure_of
from autograd_core.op.gradient import zeros_of
from autograd_core.random import Draws
from autograd_core.tensor import Tensor

Argnums = int | tuple[int, ...]
Function = Callable[..., Any]


def grad(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """Return a function that computes the gradient of the scalar ``func`` with respect to some of
    its arguments.

    >>> import autograd_core as torch
    >>> torch.func.grad(lambda x: (x**3).sum())(torch.tensor([1.0, 2.0]))
    tensor([ 3., 12.])

    The result is part of a graph if one of these arguments is, or if ``func`` uses another tensor
    that is.

    Args:
        func: a function that returns a tensor with one element or, with ``has_aux``, a pair of that
            and anything else.
        argnums: one position, or a tuple of positions; these arguments may be lists, tuples or
            dictionaries.
        has_aux: return the second result of ``func`` after the gradient.

    Raises:
        RuntimeError: ``func`` returned something else; in PyTorch's words.
    """

    @wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        result, returned = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        return (result, returned[1]) if has_aux else result

    return gradient


def grad_and_value(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """Like :func:`grad`, but the function returns a pair: gradient and result of ``func``."""

    @wraps(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        chosen, points, call = _differentiable(func, args, kwargs, argnums)
        returned = call()
        value, aux = _scalar(returned, has_aux)
        gradients = _released(_gradients(value, points), chosen, points)
        result, *released = _released([value, *leaves_of(aux)], chosen, points)
        gradient = rebuilt(chosen, gradients)
        return gradient, (result, rebuilt(aux, released)) if has_aux else result

    return both


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Return the result of ``func`` at ``primals``, and a function that maps cotangents of the
    result to a tuple of cotangents of ``primals``; then, with ``has_aux``, the second result of
    ``func``."""
    chosen, points, call = _differentiable(func, primals, {}, tuple(range(len(primals))))
    returned = call()
    outputs, aux = returned if has_aux else (returned, None)

    def pull(cotangents: Any) -> Any:
        if structure_of(cotangents) != structure_of(outputs):
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {structure_of(cotangents)}, primal output: "
                f"{structure_of(outputs)}"
            )
        gradients = _gradients(leaves_of(outputs), points, leaves_of(cotangents))
        return rebuilt(chosen, _released(gradients, (chosen, cotangents), points))

    shown = rebuilt(outputs, _released(leaves_of(outputs), chosen, points))
    return (shown, pull, aux) if has_aux else (shown, pull)


def jvp(func: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the result of ``func`` at ``primals``, and its derivative along ``tangents``."""
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to "
            "call f(*primals)."
        )
    with dual_level():
        pairs = zip(leaves_of(primals), leaves_of(tangents), strict=True)
        returned = func(*rebuilt(primals, [make_dual(x, t) for x, t in pairs]))
        duals = [unpack_dual(leaf) for leaf in leaves_of(returned)]
    results = [zeros_of(x) if tangent is None else tangent for x, tangent in duals]
    return rebuilt(returned, [x for x, _ in duals]), rebuilt(returned, results)


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """Return the result of ``func`` at ``primals``, and its derivative there as a function of the
    tangents."""

    def derivative(*tangents: Any) -> Any:
        return jvp(func, primals, tangents)[1]

    return func(*primals), derivative


def jacrev(
    func: Function, argnums: Argnums = 0, has_aux: bool = False, *, chunk_size: int | None = None
) -> Function:
    """Return a function that computes the Jacobian of ``func`` with backward passes, one per
    element, whatever ``chunk_size`` says."""
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")
    return _jacobian(func, argnums, has_aux, "reverse-mode")


def jacfwd(
    func: Function, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Function:
    """Return a function that computes the Jacobian of ``func`` in forward mode, with one call per
    column; ``randomness`` is as for :func:`.vmap`."""
    return _jacobian(func, argnums, has_aux, "forward-mode", randomness)


def hessian(func: Function, argnums: Argnums = 0) -> Function:
    """Return a function that computes the Hessian of ``func``."""
    return jacfwd(jacrev(func, argnums), argnums)


def _jacobian(
    func: Function, argnums: Argnums, has_aux: bool, strategy: str, randomness: str = ""
) -> Function:
    @wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        around = Draws(randomness).call if randomness else _without_saved_hooks
        chosen = _chosen(args, argnums)
        points = leaves_of(chosen)
        seen: list[Any] = []

        def flat(*given: Any) -> Any:
            with around():
                returned = func(*_with(args, argnums, rebuilt(chosen, given)), **kwargs)
            seen[:] = returned if has_aux else (returned, None)
            outputs = tuple(leaves_of(seen[0]))
            return outputs if len(outputs) > 1 else outputs[0]

        blocks = jacobian(
            flat, tuple(points), create_graph=strategy == "reverse-mode", strategy=strategy
        )
        rows = blocks if isinstance(blocks[0], tuple) else (blocks,)
        rows = [rebuilt(chosen, _released(row, chosen)) for row in rows]
        result = rebuilt(seen[0], rows)
        aux = rebuilt(seen[1], _released(leaves_of(seen[1]), chosen))
        return (result, aux) if has_aux else result

    return derivative


def _without_saved_hooks() -> AbstractContextManager[None]:
    return disable_saved_tensors_hooks(
        "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open "
        "an issue with your use case."
    )


def _differentiable(
    func: Function, args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Argnums
) -> tuple[Any, list[Tensor], Callable[[], Any]]:
    """Return the arguments by which to differentiate; tensors that stand for them, each in a graph;
    and the call of ``func`` on these."""
    chosen = _chosen(args, argnums)
    points = [
        t.view_as(t) if t.requires_grad else without_graph(t).requires_grad_()
        for t in map(_tensor, leaves_of(chosen))
    ]

    def call() -> Any:
        with enable_grad(), _without_saved_hooks():
            return func(*_with(args, argnums, rebuilt(chosen, points)), **kwargs)

    return chosen, points, call


def _chosen(args: tuple[Any, ...], argnums: Argnums) -> Any:
    for number in (argnums,) if isinstance(argnums, int) else argnums:
        if not -len(args) <= number < len(args):
            raise RuntimeError(f"Got argnum={number}, but only {len(args)} positional inputs")
    return args[argnums] if isinstance(argnums, int) else tuple(args[n] for n in argnums)


def _with(args: tuple[Any, ...], argnums: Argnums, chosen: Any) -> list[Any]:
    changed = list(args)
    if isinstance(argnums, int):
        changed[argnums] = chosen
    else:
        for number, value in zip(argnums, chosen, strict=True):
            changed[number] = value
    return changed


def _scalar(returned: Any, has_aux: bool) -> tuple[Tensor, Any]:
    if has_aux and not (isinstance(returned, tuple) and len(returned) == 2):
        raise RuntimeError(
            "grad_and_value(f)(*args): output of function f should be a tuple: (output, aux) if "
            "has_aux is True"
        )
    value, aux = returned if has_aux else (returned, None)
    if not isinstance(value, Tensor):
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(value)}"
        )
    if value.dim():
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor "
            f"with {value.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )
    return value, aux


def _gradients(outputs: Any, points: list[Tensor], cotangents: Any = None) -> Sequence[Tensor]:
    """Return the derivatives by ``points``, differentiable again; zeros where there is none."""
    listed = [outputs] if isinstance(outputs, Tensor) else outputs
    given = [None] * len(listed) if cotangents is None else cotangents
    pairs = [(y, g) for y, g in zip(listed, given, strict=True) if y.requires_grad]
    if not pairs:
        return [zeros_of(point.detach()) for point in points]
    roots, seeds = zip(*pairs, strict=True)
    gradients = gradients_by(roots, points, seeds, create_graph=True, materialize_grads=True)
    return [g for g in gradients if g is not None]


def _released(tensors: Sequence[Any], inputs: Any, points: Sequence[Tensor] = ()) -> list[Any]:
    """Detach ``tensors`` from the graph of these derivatives by ``points``, unless a transform
    around them needs it, by ``inputs``, or another leaf, by what the function took elsewhere."""
    reached = any(isinstance(x, Tensor) and x.requires_grad for x in leaves_of(inputs))
    return [
        t
        if reached or not isinstance(t, Tensor) or _hangs_on_others(t, points)
        else without_graph(t)
        for t in tensors
    ]


def _hangs_on_others(t: Tensor, points: Iterable[Tensor]) -> bool:
    """Return whether a leaf that is none of ``points`` is in the graph of ``t``."""
    own = {id(point.edge) for point in points}
    seen: set[int] = set()
    pending = [t.grad_fn] if own and is_grad_enabled() else []
    while pending:
        node = pending.pop()
        if node is None or id(node) in seen or id(node) in own:
            continue
        if type(node) is AccumulateGrad:
            return True
        seen.add(id(node))
        pending += [after for after, _ in node.next_functions]
    return False


def _tensor(value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(value)}")
    return value
