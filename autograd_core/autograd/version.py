"""Version counters: how often a tensor's memory was changed in place.

A counter is a list, so that views can share it.  Its first element counts; while tracing is
on, each change appends its number and the program's line that made it, for errors, lint
and pictures.  All of it dies with the last tensor that has the counter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Self, TypeAlias

from autograd_core.autograd.grad_mode import Line, current_mode, is_inference_mode_enabled

Versions: TypeAlias = list[Any]


class _Untracked(list[Any]):
    """Stands where the counter of an inference tensor would; to ask it for a version, as a node
    does that saves the tensor, is an error."""

    def __getitem__(self, place: Any) -> Any:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
            "inference mode in computation tracked by autograd. To work around this, you can make "
            "a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` "
            "instead of `torch.inference_mode()`."
        )


INFERENCE: Final = _Untracked()


class Detached(list[Any]):
    """The counter of a tensor that was taken out of its graph in place.

    It is that of those who share the memory, but its versions equal none of before: what a node
    has saved is no longer there as it was, and nobody pays for that test but those who fail it.
    """

    def __init__(self, shared: Versions) -> None:
        super().__init__()
        self._shared = shared

    def __getitem__(self, place: Any) -> Any:
        number = self._shared[place]
        return _Version(number, self) if place == 0 else number

    def __setitem__(self, place: Any, value: Any) -> None:
        self._shared[place] = value

    def __len__(self) -> int:
        return len(self._shared)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._shared)

    def __eq__(self, other: object) -> bool:
        return self._shared == other

    __hash__ = None

    def append(self, change: Any) -> None:
        self._shared.append(change)

    def copy(self) -> Versions:
        return self._shared.copy()


class _Version(int):
    """A version that differs from those that were counted before its tensor was detached."""

    _since: Detached

    def __new__(cls, number: int, since: Detached) -> Self:
        version = super().__new__(cls, number)
        version._since = since
        return version

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Version) and other._since is self._since and int.__eq__(self, other)
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__


def was_detached(versions: Versions | None, since: int) -> bool:
    """Return whether the tensor with the counter ``versions`` was detached in place after
    ``since``."""
    return isinstance(versions, Detached) and getattr(since, "_since", None) is not versions


def is_inference(tensor: Any) -> bool:
    """Return whether ``tensor`` was made in inference mode."""
    answer: bool = tensor.is_inference()
    return answer


def first_version() -> Versions | None:
    """Return the counter of a new tensor: none, until one is needed, or ever, in inference mode."""
    mode = current_mode()
    return None if mode is None or not mode.inference else INFERENCE


def check_changeable(versions: Versions | None) -> None:
    """Refuse to change an inference tensor outside inference mode."""
    if versions is INFERENCE and not is_inference_mode_enabled():
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make "
            "a clone to get a normal tensor before doing inplace update.See "
            "https://github.com/pytorch/rfcs/pull/17 for more details."
        )


def count_change(tensor: Any) -> None:
    """Note one more change of ``tensor``, which is about to be made."""
    mode = current_mode()
    if mode is not None and mode.undo_log is not None:
        mode.undo_log.keep_values(tensor)
    tracer = None if mode is None else mode.tracer
    line = None if tracer is None else tracer.changing(tensor)
    versions: Versions | None = tensor.version
    if versions is None:
        versions = tensor.version = [0]
    if versions is INFERENCE:
        check_changeable(versions)
        return
    versions[0] += 1
    if line is not None:
        versions.append((versions[0], line))


def changed_at(versions: Versions | None, since: int = 0) -> tuple[Line, ...]:
    """List where changes later than number ``since`` were made, as far as they were traced."""
    return tuple(line for number, line in (versions or [0])[1:] if number > int(since))
