"""A call that runs as it would plainly, but for its graph, which is kept: it can run once more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from math import hypot, isfinite
from typing import Any, Final

import torch

from gradstep.contract.protocol import OnGradients, values_of_call
from gradstep.engines.pytorch.calls import TorchCall, why_watched_only
from gradstep.engines.pytorch.entry import carry_out
from gradstep.engines.pytorch.kept_graphs import free
from gradstep.engines.pytorch.origins import Origins, current
from gradstep.engines.pytorch.private import (
    TensorBase,
    flattened,
    functions,
    grad_enabled,
    hook_nodes,
    norms,
    unobserved,
    vector_norm,
)
from gradstep.engines.pytorch.releasing import let_go_in_parts
from gradstep.engines.pytorch.stepping.leaf_gradients import (
    StatesBefore,
    has_late_hooks,
)
from gradstep.engines.pytorch.tensors import (
    added,
    copied,
    elements_of,
    here,
    is_plain,
    is_small,
    nbytes_of,
    put_gradient,
)
from gradstep.engines.pytorch.walking import Walked, walked
from gradstep.guest.collector import collector_paused
from gradstep.guest.fence import not_shown, run_of
from gradstep.guest.silence import silence

HELD: Final = 1 << 26
"""Bytes of gradients that wait to be measured together."""
_LONG: Final = 1 << 20
"""Elements of which a CPU adds the squares in double precision: in float32 a sum of so many may
stand still."""


class KeptRun:
    """Carries out ``call``, and looks at what came of it; see
    :class:`~gradstep.contract.protocol.KeptRun`.

    No graph is read, and nothing is hooked unless somebody wants to see each gradient, so this
    costs little more than the call: a walk over its nodes, and a copy of each ``.grad`` that the
    call adds to.
    """

    def __init__(self, call: TorchCall, behind: Walked, on_gradients: OnGradients | None) -> None:
        self._call, self._walked = call, behind
        self.whole = True
        self._before = StatesBefore()
        self._before.note(behind.leaves)
        self._retained = StatesBefore()  # to what these hold, a pass adds, too
        if (origins := current.get()) is not None and origins.retaining:
            self._retained.note(origins.retaining.values())
        given = call.arguments._replace(keep=True)
        if (noted := run_of(given.outputs)) is not None:
            noted.release = self.release
        self._heard: _Heard | None = None
        is_seen = origins is not None and origins.has_dispatch_mode
        if on_gradients is not None:
            # the engine adds in place to what nobody else holds, and takes it over: a mode sees it
            with unobserved():
                self._heard = _Heard(call, behind, on_gradients, copies=is_seen)
        hooks = [] if self._heard is None else self._heard.hooks()
        ran: list[Any] = []
        runs_once = is_seen or behind.may_run_user_code(origins)
        if runs_once and not call.keep:
            hooks += [(node.register_hook, partial(_note, ran, node)) for node in behind.nodes]
        unhook = hook_nodes(hooks)
        try:
            self.result = carry_out(given)
        except BaseException:
            unhook()
            if runs_once:
                free(call, [] if call.keep else ran, whole=False)
            elif not call.keep and not behind.is_packed:
                self._raise_plainly()
            raise
        unhook()
        if self._heard is not None:
            self._heard.end(tensor for _, tensor in self._made())
            self.whole = self._heard.whole

    def _raise_plainly(self) -> None:
        """Run a call that raised once more, now as it is: it frees what it frees plainly."""
        self.undo()
        with silence(), suppress(Exception):
            carry_out(self._call.arguments)

    def values(self) -> Iterator[tuple[str, Any]]:
        outputs = self._call.arguments.outputs
        return self._made(root for root in outputs if isinstance(root, torch.Tensor))

    def _made(self, roots: Iterable[torch.Tensor] = ()) -> Iterator[tuple[str, Any]]:
        """List the gradients that the call made, after its ``roots``."""
        returned = self.result if self._call.is_grad else None
        return values_of_call(roots, returned, self._before.grads)

    def is_finite(self) -> bool:
        return is_finite(self._call, self.result, self._before.grads)

    def undo(self) -> None:
        for state in (*self._before.states, *self._retained.states):
            put_gradient(*state)
        if (noted := run_of(self._call.arguments.outputs)) is not None:
            noted.undone()

    def release(self) -> None:
        if not self._call.keep:
            free(self._call, self._walked.nodes, self._walked.saved, whole=True)


def is_finite(call: TorchCall, result: Any, grads: Iterable[Any]) -> bool:
    """Return whether the roots of a call, which has run, and what it made are finite; False where
    it is in doubt. ``grads`` are those of its leaves."""
    with unobserved(), grad_enabled(False):
        told = (*call.arguments.outputs, *(result if call.is_grad else grads))
        return _are_finite([each for each in told if isinstance(each, torch.Tensor)])


def _are_finite(tensors: Sequence[torch.Tensor]) -> bool:
    """Return whether no element is NaN or infinite; False, too, where the sum of the squares is."""
    small: dict[torch.dtype, list[torch.Tensor]] = {}
    large: list[torch.Tensor] = []
    others: list[torch.Tensor] = []
    for tensor in tensors:
        if is_small(tensor):
            small.setdefault(tensor.dtype, []).append(tensor)
        else:
            (large if is_plain(tensor) else others).append(tensor)
    rows = chain(map(flattened, small.values()), [TensorBase.view(tensor, -1) for tensor in large])
    for row in rows:
        if not isfinite(TensorBase.item(TensorBase.dot(row, row))):
            return False
    return all(norm is not None and isfinite(norm) for norm in measured(others))


def measured(tensors: Sequence[Any], *, precisely: bool = False) -> list[float | None]:
    """Return the norm of each of some tensors, None of one that has no numbers, or whose memory is
    freed; infinite where it overflows.

    Those of one dtype on one device are measured together, and each device is waited for once.
    """
    norms: list[float | None] = [None] * len(tensors)
    alike: dict[Any, tuple[list[int], list[torch.Tensor]]] = {}
    if not tensors:
        return norms
    with unobserved(), grad_enabled(False):
        for at, tensor in enumerate(tensors):
            if tensor is None or (tensor := here(tensor)) is None:
                continue
            long = precisely and TensorBase.numel(tensor) > _LONG
            key = type(tensor), tensor.dtype, tensor.layout, at if long else tensor.device
            if (together := alike.get(key)) is None:
                together = alike[key] = [], []
            together[0].append(at)
            together[1].append(tensor)
        started: dict[torch.device, list[tuple[list[int], torch.Tensor]]] = {}
        for (kind, dtype, layout, _), (places, chosen) in alike.items():
            together = _started(chosen, kind, dtype, layout)
            if together is not None:
                started.setdefault(together.device, []).append((places, together))
                continue
            for at, tensor in zip(places, chosen, strict=True):
                norms[at] = _norm(tensor, precisely)
        for of_device in started.values():
            alone = len(of_device) == 1  # as nearly always
            given = of_device[0][1] if alone else functions.cat([tensor for _, tensor in of_device])
            lengths = TensorBase.tolist(given)
            found_at = chain(*[places for places, _ in of_device])
            for at, length in zip(found_at, lengths, strict=True):
                norms[at] = length
    return norms


def _started(
    tensors: list[torch.Tensor], kind: type, dtype: torch.dtype, layout: torch.layout
) -> torch.Tensor | None:
    """Return the norms of tensors that are alike, None where they have to be measured one by
    one."""
    if kind is not torch.Tensor or layout is not torch.strided or not dtype.is_floating_point:
        return None
    if TensorBase.numel(tensors[0]) > _LONG and tensors[0].is_cpu:
        return None
    try:
        return functions.stack(norms(tensors))
    except (RuntimeError, NotImplementedError):  # nested ones, or a backend without this
        return None


def _norm(tensor: torch.Tensor, precisely: bool) -> float | None:
    """Return the norm of a tensor of any kind; that of the elements which a sparse one stores, some
    of them in parts, unless it is to be precise."""
    try:
        if precisely and tensor.layout is not torch.strided:
            return None
        parts = [
            TensorBase.abs(part) if TensorBase.is_complex(part) else part
            for part in elements_of(tensor)
        ]
        return hypot(*[TensorBase.item(vector_norm(x, dtype=torch.float64)) for x in parts])
    except (RuntimeError, NotImplementedError):  # a subclass that cannot do this
        return None


class _Heard:
    """Hands the gradients of a pass, in which no code of the program's runs, to ``on_gradients``:
    what nodes send, and sums of several.  It holds ``copies`` of them where that is asked for."""

    def __init__(
        self, call: TorchCall, walked: Walked, on_gradients: OnGradients, *, copies: bool
    ) -> None:
        self.whole = True  # else hearing failed
        self._nodes, self._on_gradients = walked.nodes, on_gradients
        self._copies = copies
        self._held: list[Any] = []
        self._bytes = 0
        senders = Counter(to for following in walked.edges for to in following)
        self._sums: dict[Any, Any] = {to: None for to, count in senders.items() if count > 1}
        # to these leaves one gradient comes, and becomes the .grad as it is, which is heard of in
        # the end: the engine need not copy what nobody else holds
        left_out = (
            set()
            if call.is_grad or call.graph
            else {
                node
                for node, leaf in zip(walked.ends, walked.leaves, strict=True)
                if senders[node, 0] == 1 and leaf.grad is None
            }
        )
        sums = self._sums
        self._wanted = [
            [(nr, to if to in sums else None) for nr, to in enumerate(following)
             if to[0] is not None and to[0] not in left_out]
            for following in walked.edges
        ]  # fmt: skip

    def hooks(self) -> list[tuple[Callable[[Any], Any], Callable[..., Any]]]:
        """List the hooks that listen, each with the method that registers it."""
        after = self._after
        return [
            (node.register_hook, partial(after, wanted))
            for node, wanted in zip(self._nodes, self._wanted, strict=True) if wanted
        ]  # fmt: skip

    def _after(
        self, wanted: list[tuple[int, Any]], sent: tuple[Any, ...], _: tuple[Any, ...]
    ) -> None:
        try:
            for nr, place in wanted:
                gradient = sent[nr] if nr < len(sent) else None
                if self._copies:
                    gradient = copied(gradient)
                self._hold(gradient)
                if place is not None and gradient is not None:
                    there = self._sums[place]
                    if there is not None:
                        with unobserved(), grad_enabled(False):
                            gradient = added(there, gradient)
                        self._hold(gradient)
                    self._sums[place] = gradient
        except Exception as error:
            self.whole = False
            not_shown("what a node did", error)

    def _hold(self, gradient: Any) -> None:
        self._held.append(gradient)
        if gradient is not None:
            self._bytes += nbytes_of(gradient)
            if self._bytes > HELD:
                self._tell()

    def _tell(self) -> None:
        held, self._held, self._bytes = self._held, [], 0
        self._on_gradients(held, measured(held, precisely=True))

    def end(self, gradients: Iterator[Any]) -> None:
        """Tell of what is left, and of the ``gradients`` that the call has made."""
        self._sums.clear()
        self._held += [tensor for tensor in gradients if tensor is not None]
        self._tell()


def _note(ran: list[Any], node: Any, sent: Any, _: Any) -> None:
    """Note that a node has run."""
    ran.append(node)


def kept_run(call: TorchCall, on_gradients: OnGradients | None = None) -> KeptRun | None:
    """Carry out ``call``, keeping its graph; None where that would be another call: one that frees
    only the nodes that lead to its inputs, or one with a function that runs once; or where an
    optimizer steps in it, which cannot be undone; or where code of the program's runs."""
    frees_a_part = call.inputs and not (call.is_grad and call.keep)
    if frees_a_part or (call.inputs and on_gradients is not None) or why_watched_only(call):
        return None
    with collector_paused(), unobserved():
        behind = walked(call)
        if behind.is_compiled or any(map(has_late_hooks, behind.leaves)):
            return None
        if behind.has_user_code(current.get() or Origins()):
            return None
        let_go_in_parts(behind.nodes, behind.edges)
    return KeptRun(call, behind, on_gradients)
