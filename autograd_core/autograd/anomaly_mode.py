"""Anomaly mode: where in the forward pass a failing or NaN gradient comes from.

While it is on, every node keeps the traceback of the line that made it, in its ``metadata``
under PyTorch's key, and backward passes look at every gradient.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from autograd_core.autograd.engine import GraphTask
from autograd_core.autograd.grad_mode import USUAL, Anomaly, current_mode, enter_mode, leave_mode
from autograd_core.autograd.node import Node
from autograd_core.autograd.step import Step
from autograd_core.own_files import is_own_file, warn

_KEY = "traceback_"
_HINT = "Hint: enable anomaly detection to find the operation that failed to compute its gradient, "


def is_anomaly_enabled() -> bool:
    """Return whether anomaly mode is on."""
    mode = current_mode()
    return mode is not None and mode.anomaly is not None


def is_anomaly_check_nan_enabled() -> bool:
    """Return whether anomaly mode checks for NaN."""
    mode = current_mode()
    return mode is None or mode.anomaly is None or mode.anomaly.check_nan


class set_detect_anomaly:
    """Turn anomaly mode on or off, at once; as a context manager also back again."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        before = current_mode() or USUAL
        anomaly = Anomaly(check_nan, keep_traceback) if mode else None
        self._token = enter_mode(replace(before, anomaly=anomaly))

    def __enter__(self) -> None:
        pass  # already so since the call, as in PyTorch

    def __exit__(self, *error: object) -> None:
        leave_mode(self._token)


class detect_anomaly:
    """Within it, anomaly mode is on.

    >>> import warnings
    >>> import autograd_core as torch
    >>> x = torch.tensor(0.0, requires_grad=True)
    >>> with warnings.catch_warnings(action="ignore"), torch.autograd.detect_anomaly():
    ...     (x.sqrt() * 0).backward()
    Traceback (most recent call last):
        ...
    RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._mode = set_detect_anomaly(True, self._check_nan)

    def __exit__(self, *error: object) -> None:
        self._mode.__exit__(*error)


def keep_traceback(node: Node) -> None:
    """Remember the user's line that made ``node``."""
    stack = traceback.extract_stack(sys._getframe(1))
    users = [frame for frame in stack if not is_own_file(frame.filename)]
    node.metadata[_KEY] = traceback.format_list(users)


def run_watched(task: GraphTask, check_nan: bool, start: int = 0) -> None:
    """Run ``task``, from node ``start`` on, as :func:`watched`."""
    for _ in watched(task.observe(start, copy_grads=False), task.order[start:], check_nan):
        pass


def watched(
    steps: Iterator[Step],
    nodes: Iterable[Node],
    check_nan: bool,
    undo: Callable[[Step], None] | None = None,
) -> Iterator[Step]:
    """Yield the ``steps`` of ``nodes``; what goes wrong is reported with its forward line.

    Raises:
        RuntimeError: a node returned NaN, and ``check_nan`` is set; ``undo`` was told.
    """
    for node in nodes:
        try:
            step = next(steps)
        except Exception as error:
            _report(node)
            if _HINT in str(error):
                raise type(error)(_better_hint(str(error))) from None
            raise
        if check_nan:
            try:
                _check(step)
            except RuntimeError:
                if undo is not None:
                    undo(step)
                raise
        yield step


def _check(step: Step) -> None:
    for delivery in step.deliveries:
        g: Any = getattr(delivery.gradient, "array", delivery.gradient)
        if g is not None and np.isnan(g).any():
            _report(step.node)
            raise RuntimeError(
                f"Function '{step.node.name()}' returned nan values in its "
                f"{delivery.output_nr}th output."
            )


def _report(node: Node) -> None:
    lines = node.metadata.get(_KEY)
    if lines is None:
        text = (
            f"Error detected in {node.name()}. No forward pass information available. Enable "
            "detect anomaly during forward pass for more information."
        )
    else:
        text = (
            f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n"
            f"{''.join(lines)}"
        )
    warn(text)


def _better_hint(message: str) -> str:
    before, _, after = message.partition(_HINT)
    _, _, where = after.partition("\n")  # the line that changed a saved value, if traced
    return (
        f"{before}Hint: the backtrace further above shows the operation that "
        "failed to compute its gradient. The variable in question was changed in there or "
        "anywhere later. Good luck!"
    ) + (where and f"\n{where}")
