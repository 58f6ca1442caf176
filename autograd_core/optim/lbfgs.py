"""L-BFGS, and its line search."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autograd_core.autograd.grad_mode import enable_grad
from autograd_core.optim.optimizer import Optimizer, Parameters, checked_options
from autograd_core.tensor import Tensor

Array = np.ndarray[Any, Any]


class LBFGS(Optimizer):
    """Quasi-Newton descent that remembers the last ``history_size`` changes of the gradient.

    It has only one parameter group. ``step`` needs a closure, which it calls several times, and
    makes up to ``max_iter`` iterations.

    Args:
        line_search_fn: None for iterations of step length ``lr``, or "strong_wolfe".
    """

    def __init__(
        self,
        params: Parameters,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        checked_options(lr=lr)
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
            },
        )
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Iterate until the gradient or the steps are small, or ``max_iter`` is reached. Return the
        loss before the first iteration."""
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        group = self.param_groups[0]
        self._keep_state(group["params"][0])
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        with enable_grad():
            first_loss = closure()
        loss, gradient = float(first_loss), self._gradient()
        evaluations = 1
        moves = 0
        while moves < group["max_iter"] and np.abs(gradient).max() > group["tolerance_grad"]:
            moves += 1
            state["n_iter"] += 1
            _remember(state, gradient, group["history_size"])
            direction = state["d"].array
            slope = float(gradient @ direction)
            scale = min(1.0, 1.0 / np.abs(gradient).sum()) if state["n_iter"] == 1 else 1.0
            state["t"] = float(scale * group["lr"])
            state["prev_flat_grad"], state["prev_loss"] = Tensor.from_array(gradient), loss
            if slope > -group["tolerance_change"]:
                break
            before = loss
            loss, gradient, count = self._move(
                closure, Point(0.0, loss, gradient, slope), evaluations, moves
            )
            evaluations += count
            moved = np.abs(direction * state["t"]).max()
            if evaluations >= group["max_eval"] or moved <= group["tolerance_change"]:
                break
            if abs(loss - before) < group["tolerance_change"] and moves < group["max_iter"]:
                break
        state["func_evals"] += evaluations
        return first_loss

    def _move(
        self, closure: Callable[[], Any], start: Point, evaluations: int, moves: int
    ) -> tuple[float, Array, int]:
        """Go along the direction, and return the loss and the gradient there, and what it took."""
        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        direction = state["d"].array
        if group["line_search_fn"] is None:
            self._add(state["t"] * direction)
            if moves == group["max_iter"]:
                return start.loss, start.gradient, 0
            with enable_grad():
                return float(closure()), self._gradient(), 1
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        origin = [p.array.copy() for p in group["params"]]

        def evaluate(t: float) -> Point:
            self._add(t * direction)
            with enable_grad():
                loss = float(closure())
            gradient = self._gradient()
            for p, array in zip(group["params"], origin, strict=True):
                p.bump()
                p.array[...] = array
            return Point(t, loss, gradient, float(gradient @ direction))

        step, count = strong_wolfe(
            evaluate,
            start,
            state["t"],
            float(np.abs(direction).max()),
            1e-9,
            group["max_eval"] - evaluations,
        )
        state["t"] = step.t
        self._add(step.t * direction)
        return step.loss, step.gradient, count

    def _gradient(self) -> Array:
        """Return the gradients of all parameters in one row."""
        return np.concatenate(
            [
                np.zeros(p.array.size, p.array.dtype) if p.grad is None else p.grad.array.ravel()
                for p in self.param_groups[0]["params"]
            ]
        )

    def _add(self, move: Array) -> None:
        done = 0
        for p in self.param_groups[0]["params"]:
            size = p.array.size
            p.bump()
            p.array += move[done : done + size].reshape(p.array.shape)
            done += size


def _remember(state: dict[str, Any], gradient: Array, history_size: int) -> None:
    """Note how the gradient changed with the last move, and set the next direction ``d``."""
    if "d" not in state:
        start = Tensor.from_array(-gradient)
        state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1, d=start)
        return
    change = gradient - state["prev_flat_grad"].array
    move = state["d"].array * float(state["t"])
    product = change @ move
    if product > 1e-10:
        for name, value in (("old_dirs", change), ("old_stps", move), ("ro", 1.0 / product)):
            state[name] = [*state[name], Tensor.from_array(np.asarray(value))][-history_size:]
        state["H_diag"] = Tensor.from_array(np.asarray(product / (change @ change)))
    state["d"] = Tensor.from_array(_two_loops(-gradient, state))


def _two_loops(q: Array, state: dict[str, Any]) -> Array:
    """Return the approximate inverse of the Hessian times ``q``."""
    names = ("old_dirs", "old_stps", "ro")
    memory = list(zip(*([t.array for t in state[name]] for name in names), strict=True))
    shares = []
    for change, move, ro in reversed(memory):
        share = (move @ q) * ro
        q = q - share * change
        shares.append(share)
    result: Array = q * float(state["H_diag"])
    for (change, move, ro), share in zip(memory, reversed(shares), strict=True):
        result = result + move * (share - (change @ result) * ro)
    return result


ARMIJO, CURVATURE = 1e-4, 0.9


class Point(NamedTuple):
    """A place on the line: how far along, the loss there, its gradient, and its slope."""

    t: float
    loss: float
    gradient: np.ndarray[Any, Any]
    slope: float


def strong_wolfe(
    evaluate: Callable[[float], Point],
    start: Point,
    t: float,
    length: float,
    tolerance_change: float,
    max_evaluations: int,
) -> tuple[Point, int]:
    """Return a point that decreases the loss enough and where the slope is small enough.

    First a bracket is found that must contain one, then it is narrowed (Nocedal and Wright,
    Numerical Optimization, section 3.5), both times by cubic interpolation.

    Args:
        evaluate: the point at a step length.
        start: the point at 0.
        t: the step length to try first.
        length: the largest component of the direction, by which a bracket is measured.

    Returns:
        The best point found, and how many were evaluated.
    """
    bracket, count, done = _find_bracket(evaluate, start, t, max_evaluations)
    stuck = False
    low, high = _low_high(bracket)
    while not done and count - 1 < max_evaluations:
        ends = [point.t for point in bracket]
        if abs(ends[1] - ends[0]) * length < tolerance_change:
            break
        t, stuck = _inside(_minimum(bracket[0], bracket[1]), ends, stuck)
        new = evaluate(t)
        count += 1
        if _too_high(new, start) or new.loss >= bracket[low].loss:
            bracket[high] = new
            low, high = _low_high(bracket)
            continue
        if _flat(new, start):
            done = True
        elif new.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = new
    return bracket[low], count


def _find_bracket(
    evaluate: Callable[[float], Point], start: Point, t: float, max_evaluations: int
) -> tuple[list[Point], int, bool]:
    """Return two points with a good one between them, or a good one alone; and whether it is
    that."""
    previous, new, count = start, evaluate(t), 1
    while count - 1 < max_evaluations:
        if _too_high(new, start) or (count > 2 and new.loss >= previous.loss):
            return [previous, new], count, False
        if _flat(new, start):
            return [new], count, True
        if new.slope >= 0:
            return [previous, new], count, False
        bounds = new.t + 0.01 * (new.t - previous.t), new.t * 10
        t = _minimum(previous, new, bounds)
        previous, new = new, evaluate(t)
        count += 1
    return [start, new], count, False


def _too_high(new: Point, start: Point) -> bool:
    return new.loss > start.loss + ARMIJO * new.t * start.slope


def _flat(new: Point, start: Point) -> bool:
    return abs(new.slope) <= -CURVATURE * start.slope


def _low_high(bracket: list[Point]) -> tuple[int, int]:
    return (0, 1) if bracket[0].loss <= bracket[-1].loss else (1, 0)


def _inside(t: float, ends: list[float], stuck: bool) -> tuple[float, bool]:
    """Return ``t``, moved away from the ends of the bracket where that is not the first time; and
    whether it lay close to one and was left there."""
    first, last = min(ends), max(ends)
    margin = 0.1 * (last - first)
    if min(last - t, t - first) >= margin:
        return t, False
    if not stuck and first < t < last:
        return t, True
    return (last - margin if abs(t - last) < abs(t - first) else first + margin), False


def _minimum(a: Point, b: Point, bounds: tuple[float, float] | None = None) -> float:
    """Return where the cubic through both points, with their slopes, is least within ``bounds``."""
    low, high = bounds or (min(a.t, b.t), max(a.t, b.t))
    if a.t > b.t:
        a, b = b, a
    middle = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = middle * middle - a.slope * b.slope
    if square < 0:
        return (low + high) / 2
    root = math.sqrt(square)
    t = b.t - (b.t - a.t) * ((b.slope + root - middle) / (b.slope - a.slope + 2 * root))
    return min(max(t, low), high)
