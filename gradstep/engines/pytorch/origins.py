"""Places in the program where nodes were made: module and line, by the sequence number.

Every node gets the next number of its thread.  A module, and a call of a torch function, knows the
number before and after: all nodes between are its own.  So nothing is paid per node, and what
composite functions make inside of C++ is covered.  ``torch.compile`` reads the code that notes this
as if it were the program's, and is to find nothing there: ``is_dynamo_compiling``.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import lru_cache, partial, update_wrapper
from inspect import signature
from math import inf
from threading import get_ident
from types import BuiltinFunctionType, FrameType, GetSetDescriptorType
from typing import Any, Final, NamedTuple, cast
from weakref import WeakValueDictionary, ref

import torch
from torch.compiler import is_dynamo_compiling
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils.hooks import RemovableHandle

from gradstep.capturing.events import note_call
from gradstep.capturing.frames import outermost_of, user_frame, user_source
from gradstep.capturing.rounds import Rounds
from gradstep.contract.events import noted
from gradstep.contract.loops import LoopRound
from gradstep.contract.module_paths import (
    OUTSIDE,
    ModuleCall,
    ModulePaths,
    ModulesRun,
    ScopePath,
    joined,
    named_modules,
)
from gradstep.contract.op_records import next_number, source_at
from gradstep.engines.pytorch.changes import Changes, may_change, version_of
from gradstep.engines.pytorch.departures import TAKING_OUT
from gradstep.engines.pytorch.originals import GETTER, OF_C, original
from gradstep.engines.pytorch.private import (
    FUNCTION_MODES,
    dispatch_mode_count,
    function_mode_count,
    has_hooks,
    hook_tables,
    innermost_function_mode,
    own_attributes,
    own_handles,
    pop_function_mode,
    push_function_mode,
    sequence_nr,
    sequence_nr_of,
    skip_code,
    torch_c,
    uncompiled,
    unobserved,
    version_counter,
)
from gradstep.engines.pytorch.schema import tensors_in
from gradstep.engines.pytorch.unwritten import HANDS_OUT
from gradstep.graph.model import Source
from gradstep.guest.fence import attribute_of, fenced, not_shown, read
from gradstep.guest.replaced import Replaced

DROPOUT: Final = "dropout"
MOST_CALLS = 100
"""Calls of ``backward`` of which is remembered what they freed."""
MOST_GIVEN: Final = 20_000
"""Constants that ops were given, and are remembered."""
_TENSOR: Final = torch.Tensor
MANY = 100_000
"""Lines, or modules, beyond which those of graphs that the program has freed are forgotten."""
MOST = 1_000_000
"""Lines, or modules, that are remembered; a graph that is older than so many calls has none."""


class Origin(NamedTuple):
    """A module, a line, what the program calls the op there if that is not its name, and the round
    of a loop."""

    scope: ScopePath
    source: Source | None
    called: str = ""
    round: LoopRound | None = None


class Origins:
    """Intervals of sequence numbers, and what they belong to.

    >>> origins = Origins()
    >>> origins.enter(ScopePath(path="fc1"), 3)
    >>> origins.enter(OUTSIDE, 5)
    >>> origins.ran(3, 4, Source("train.py", 12))
    >>> origins.place(3).scope.path, origins.place(3).source, origins.place(6)
    ('fc1', Source(file='train.py', line=12), None)
    """

    def __init__(self) -> None:
        self._scope_starts = array("q")
        self._scopes: list[ScopePath] = []
        self._round_starts = array("q")
        self._rounds: list[LoopRound | None] = []
        self.loops: Rounds | None = None  # what tells their rounds, where these are noted
        self._starts = array("q")
        self._stops = array("q")
        self._lines: list[Source] = []
        self._dropouts: set[int] = set()  # the numbers of nodes
        self.records: dict[int, Any] = {}  # of ops, by the number of the node
        self.given: dict[tuple[int, int], Any] = {}  # constants that no node saves, see give()
        self.first_handle = RemovableHandle.next_id  # of a hook of the program's
        self.has_older_hooks = self.first_handle > len(own_handles)  # than what is noted
        self.ops: Any = None  # what records them, where values were asked for
        self.hooks: dict[int, list[ref[Any]]] = {}  # tables of them, by the number of the node
        self.retaining: WeakValueDictionary[int, torch.Tensor] = WeakValueDictionary()  # by id
        self.changes = Changes()
        self.recorder: Any = None  # the same, which stays known when it records no more
        # where calls that freed their graph began, each with its line
        self.freed_roots: deque[tuple[int, Source]] = deque(maxlen=MOST_CALLS)
        self._forgotten = -1
        self._room = MANY
        self.modules = ModulesRun()
        self._given: dict[int, tuple[ref[Any], Any, int | str]] = {}
        self.named: Callable[[str], AbstractContextManager[None]] | None = None  # see Modules
        self.noting = True
        self.lines: Lines | None = None
        self.is_aside = False  # modes are off, while PyTorch traces or compiles
        self.is_paused = False  # lines are not noted, for a while
        self.rests = False  # nor are modules
        self.inside = False  # a module that has begun meanwhile
        self._rest_starts: list[int] = []
        self._rest_stops: list[float] = []
        self._taken_from = ""
        self._taken: dict[int, Origin | None] = {}  # of nodes made meanwhile
        self.kept: dict[int, tuple[str, list[Origin | None]]] = {}  # see the module alike
        self.running = False  # a backward pass

    @property
    def scope(self) -> ScopePath:
        """The module that runs now."""
        return self._scopes[-1] if self._scopes else OUTSIDE

    def origin(self, tensor: torch.Tensor) -> Any:
        """Return the op that made a tensor, as it was recorded; after the end, None of one that
        was made since."""
        if self.ops is not None:
            return self.ops.origin(tensor)
        return None if self.noting or self.recorder is None else self.recorder.known(tensor)

    def leaf(self, tensor: torch.Tensor) -> Any:
        """Return what was recorded of a leaf; after the end, None of one that no op was given."""
        if self.ops is not None:
            return self.ops.leaf(tensor)
        return None if self.noting or self.recorder is None else self.recorder.known_leaf(tensor)

    def end(self, outer: Origins | None) -> None:
        """Note no more; what is noted stays known, unless ``outer`` goes on."""
        self.noting, self.ops = False, None
        if outer is not None and outer.noting:
            current.set(outer)

    def note(self, *, on: bool, modules: bool) -> None:
        """Go on to note lines and modules, if that can be now, or leave lines alone for a while,
        and, but for ``modules``, these, too."""
        if on:
            if self.is_aside or self.inside:
                return
            if self.is_paused and (self.lines is None or self.lines.wake()):
                if self.rests:
                    assert sequence_nr is not None
                    self._rest_stops[-1] = sequence_nr()
                    self.loops = None if self.loops is None else Rounds()
                self.is_paused = self.rests = False
            return
        self.is_paused = True
        if not modules and not self.rests and sequence_nr is not None:
            self.rests = True
            self._rest_starts.append(sequence_nr())
            self._rest_stops.append(inf)

    @property
    def has_rested(self) -> bool:
        """Whether there are nodes of which modules and lines were not noted."""
        return bool(self._rest_starts)

    def is_noted(self, number: int) -> bool:
        """Return whether modules and lines were noted when node ``number`` was made."""
        at = bisect_right(self._rest_starts, number) - 1
        return at < 0 or number >= self._rest_stops[at]

    def take(self, title: str, places: Mapping[int, Origin | None]) -> None:
        """Let the places of nodes that were not noted be these, of the call ``title``."""
        self._taken_from, self._taken = title, dict(places)

    def taken_from(self, number: int) -> str:
        """Return the call from which the place of node ``number`` was taken, "" where it was
        noted, or is unknown."""
        return "" if self.is_noted(number) or number not in self._taken else self._taken_from

    def enter(self, scope: ScopePath, number: int) -> None:
        """Nodes from ``number`` on belong to ``scope``."""
        if self._scope_starts and self._scope_starts[-1] == number:
            self._scopes[-1] = scope
        else:
            self._scope_starts.append(number)
            self._scopes.append(scope)
            if len(self._scopes) > self._room:
                self._make_room()

    @property
    def round(self) -> LoopRound | None:
        """The round of a loop that ran last."""
        return self._rounds[-1] if self._rounds else None

    @fenced("loops")
    def runs(self, caller: FrameType, frame: FrameType | None, number: int) -> None:
        """Nodes from ``number`` on are made in the rounds of loops in which ``caller`` calls, and
        ``frame``, the program's innermost one."""
        now = None if self.loops is None else self.loops.at(caller, frame)
        if now is not self.round:
            self._round_starts.append(number)
            self._rounds.append(now)

    def ran(self, start: int, stop: int, line: Source) -> None:
        """Nodes from ``start`` to before ``stop`` were made at a line."""
        if self._stops and self._stops[-1] == start and self._lines[-1] == line:
            self._stops[-1] = stop
            return
        self._starts.append(start)
        self._stops.append(stop)
        self._lines.append(line)
        if len(self._starts) > self._room:
            self._make_room()

    def dropped(self, start: int, stop: int) -> None:
        """Nodes from ``start`` to before ``stop`` were made by a call of dropout."""
        self._dropouts.update(range(start, stop))
        for number in range(start, stop):
            if number in self.records:
                self.records[number].called = DROPOUT

    def give(self, number: int, arguments: Sequence[Any]) -> None:
        """Note which constants the op of node ``number`` was given, if any."""
        for at, value in enumerate(arguments):
            kind = type(value)
            if kind is float or kind is int:
                self.given[number, at] = value
            elif kind is _TENSOR and not value.requires_grad:
                try:
                    version = version_counter(value)
                except RuntimeError:  # one made in inference mode has none
                    continue
                self.given[number, at] = ref(value), version
        if len(self.given) > MOST_GIVEN:
            for old in [*self.given][: MOST_GIVEN // 2]:
                del self.given[old]

    def given_to(self, number: int, at: int) -> Any:
        """Return a constant that the op of node ``number`` was given at a place: a number, or a
        tensor that is still as it was then; else None."""
        given = self.given.get((number, at))
        if type(given) is not tuple:
            return given
        tensor = given[0]()
        return None if tensor is None or version_of((tensor,)) != given[1] else tensor

    def forget(self) -> None:
        """Forget the places of all that was made so far."""
        del self._starts[:], self._stops[:], self._lines[:]
        del self._scope_starts[:], self._scopes[:], self._round_starts[:], self._rounds[:]

    def _make_room(self) -> None:
        """Forget the places of what was made before the last graph but one that was freed, and,
        where those are too few, the older half of all."""
        freed = self.freed_roots[-2][0] if len(self.freed_roots) > 1 else -1
        old = bisect_right(self._starts, freed)
        old_scopes = max(bisect_right(self._scope_starts, freed) - 1, 0)
        if max(len(self._starts) - old, len(self._scopes) - old_scopes) >= MOST:
            old, old_scopes = len(self._starts) // 2, len(self._scopes) // 2
        del self._starts[:old], self._stops[:old], self._lines[:old]
        del self._scope_starts[:old_scopes], self._scopes[:old_scopes]
        old_rounds = max(bisect_right(self._round_starts, min(self._starts[:1], default=0)) - 1, 0)
        del self._round_starts[:old_rounds], self._rounds[:old_rounds]
        first = min(self._starts[:1] + self._scope_starts[:1], default=0)
        self._dropouts = {number for number in self._dropouts if number >= first}
        self._room = min(MOST, max(MANY, 2 * len(self._starts), 2 * len(self._scopes)))

    def function(self, function: Any, arguments: Any) -> Callable[[Any], None]:
        """Note the line that calls a custom Function, when that returns: it is no torch function,
        though those may run inside it."""
        assert sequence_nr is not None
        caller = sys._getframe(2)
        frame = user_frame(caller)
        before, line = sequence_nr(), user_source(frame)
        self.runs(caller, frame, before)

        def returned(result: Any) -> None:
            assert sequence_nr is not None
            start = max(before, self._stops[-1]) if self._stops else before
            if line is not None and start < sequence_nr():
                self.ran(start, sequence_nr(), line)

        return returned

    def note_given(self, module: Any, given: Sequence[Any], named: Mapping[str, Any]) -> None:
        """Note what an outermost module is called with."""
        places: list[tuple[int | str, Any]] = [*enumerate(given), *named.items()]
        for place, value in places:
            if isinstance(value, torch.Tensor):
                self._given.setdefault(id(value), (ref(value), type(module), place))

    def given_as(self, tensor: torch.Tensor) -> str:
        """Return what ``forward`` of the outermost module calls a tensor that it was given, ""
        where none was."""
        known, module, place = self._given.get(id(tensor), _NOT_GIVEN)
        if known is None or known() is not tensor or module.__module__.startswith("torch.nn"):
            return ""  # what PyTorch calls it is no name
        if isinstance(place, str):
            return place
        usual = _parameters_of(attribute_of(module, "forward"))
        return usual[place] if place < len(usual) else ""

    def record(self, number: int) -> Any:
        """Return the record of the op of node ``number``, or else the place where it was made."""
        return self.records.get(number) or self.place(number)

    @property
    def has_hooks(self) -> bool:
        """Whether the program has registered any hook, or retains a gradient: code of its own, or
        of PyTorch's, may run in a pass."""
        return bool(self.retaining) or RemovableHandle.next_id != self.first_handle

    @property
    def has_dispatch_mode(self) -> bool:
        """Whether a dispatch mode of the program's sees the ops that this thread runs."""
        return dispatch_mode_count() > (self.ops is not None and self.ops.acts)

    @fenced("hooks")
    def hooked(self, tensor: torch.Tensor) -> None:
        """Note where the hooks of ``tensor`` are, which its node runs."""
        if not self.noting or tensor.grad_fn is None:
            return
        known = self.hooks.setdefault(sequence_nr_of(tensor.grad_fn), [])
        for table in hook_tables(tensor):
            if not any(reference() is table for reference in known):
                known.append(ref(table))

    def freed(self, number: int, line: Source) -> None:
        """Note that a call at ``line`` freed what a root kept, of node ``number``, and what nodes
        before it kept."""
        self.modules.clear()
        self._given.clear()
        if len(self.freed_roots) == MOST_CALLS:
            self._forgotten = max(self._forgotten, self.freed_roots[0][0])
        self.freed_roots.append((number, line))

    def freed_at(self, number: int) -> Source | None:
        """Return the line whose call freed what node ``number`` kept, None if it may be several.

        >>> origins = Origins()
        >>> origins.freed(9, Source("train.py", 12))
        >>> origins.freed_at(3), origins.freed_at(10)
        (Source(file='train.py', line=12), None)
        """
        lines = {line for root, line in self.freed_roots if root >= number > self._forgotten}
        return lines.pop() if len(lines) == 1 else None

    def place(self, number: int) -> Origin | None:
        """Return where node ``number`` was made, None where nothing is known."""
        if not self.is_noted(number):
            return self._taken.get(number)
        at = bisect_right(self._scope_starts, number) - 1
        scope = self._scopes[at] if at >= 0 else OUTSIDE
        at = bisect_right(self._starts, number) - 1
        line = self._lines[at] if at >= 0 and number < self._stops[at] else None
        at = bisect_right(self._round_starts, number) - 1
        inside = self._rounds[at] if at >= 0 else None
        return _place(scope, line, DROPOUT if number in self._dropouts else "", inside)


@lru_cache(maxsize=256)
def _parameters_of(forward: Any) -> list[str]:
    """Return what a method calls what it is given by position; to read it takes as long as ten
    small nodes."""
    parameters = list(read(lambda: signature(forward).parameters.values()))[1:]
    return [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]


_NOT_GIVEN: Final[tuple[None, Any, str]] = (None, None, "")


@lru_cache(maxsize=4096)
def _place(
    scope: ScopePath, source: Source | None, called: str, round: LoopRound | None
) -> Origin | None:
    """Return one place for all ops of a line: to make it takes longer than to find it."""
    return None if scope is OUTSIDE and source is None else Origin(scope, source, called, round)


current: ContextVar[Origins | None] = ContextVar("gradstep_torch_origins", default=None)
"""What was noted in this thread; it stays known for the graphs that live on."""


class Lines(TorchFunctionMode):  # type: ignore[misc]  # torch is not there for every check
    """Notes the line of the program around every call of a torch function."""

    def __init__(self, origins: Origins) -> None:
        super().__init__()
        self._origins = origins
        self.acts = False
        self._below: tuple[int, Any] | None = None  # while it is asleep, the modes around it
        self._outside: list[Any] = []  # the modes outside of it, while it has stepped aside

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if is_dynamo_compiling():
            return function(*args, **kwargs) if kwargs else function(*args)
        kind = type(function)
        if kind is GETTER:
            if type(function.__self__) is not GetSetDescriptorType:
                function = original(function, sys._getframe(1))
        elif kwargs is not None or kind not in OF_C:  # what asks in Python gives keywords
            function = original(function, sys._getframe(1))
        if self._origins.is_paused:
            return function(*args, **kwargs) if kwargs else function(*args)
        assert sequence_nr is not None
        before, version = sequence_nr(), None
        ops, sees_ops = self._origins.ops, False
        try:
            if kind is not GETTER:
                next_number()
            version = version_of(args) if may_change(function) else None
            if ops is not None and ops.dozes and _makes_nodes(function, types, args, kwargs):
                ops.wake()
            sees_ops = ops is not None and not ops.dozes
            if sees_ops:
                caller = sys._getframe(1)
                self._origins.runs(caller, user_frame(caller), before)
        except Exception as error:
            not_shown("what changes in place", error)
        result = function(*args, **kwargs) if kwargs else function(*args)
        try:
            after = sequence_nr()
            if version is not None and not sees_ops and version_of(args) != version:
                self._origins.changes.note(args[0], version, user_source(sys._getframe(1)))
            recorder = self._origins.recorder
            if recorder is not None and function in HANDS_OUT:
                recorder.handed_out(args[0])
            if (
                recorder is not None
                and function in TAKING_OUT
                and (not recorder.dozes or recorder.known(args[0]) is not None)
            ):
                with unobserved():
                    recorder.taken_out(function, args[0], user_source(sys._getframe(1)))
            if after != before:
                if function in _DROPOUTS:
                    self._origins.dropped(before, after)
                if sees_ops:
                    ops.keep_while_alive(result, before, after)
                elif function in _WITH_CONSTANTS and after == before + 1:
                    self._origins.give(before, args)
                caller = sys._getframe(1)
                frame = user_frame(caller)
                if not sees_ops:
                    self._origins.runs(caller, frame, before)
                if frame is not None:
                    self._origins.ran(before, after, source_at(frame.f_code, frame.f_lasti))
            if sees_ops and ops.is_tired:
                ops.doze()
        except Exception as error:
            not_shown("lines of the program", error)
        return result

    @contextmanager
    def acting(self) -> Iterator[None]:
        """Within it, this mode acts, unless it is suspended."""
        self.__enter__()
        self.acts = True
        try:
            yield
        finally:
            FUNCTION_MODES.leave(self)

    def step_aside(self, _given: Any) -> bool:
        """Have this mode act no more, whatever modes are inside of it; whether it did."""
        outside = FUNCTION_MODES.take(self)
        if outside is not None:
            self.acts, self._outside = False, outside
        return outside is not None

    def come_back(self) -> None:
        """Have this mode act again, where it did."""
        self.acts = FUNCTION_MODES.put(self, self._outside)

    def suspend(self, optimizer: Any = None) -> bool:
        """Have this mode act no more, if that can be; whether it was so."""
        if (
            self._origins.ops is not None
            or push_function_mode is None
            or pop_function_mode is None
            or innermost_function_mode() is not self
        ):
            return False
        pop_function_mode()
        self.acts = False
        return True

    def resume(self) -> None:
        """Have this mode act again, or sleep where lines are not to be noted for a while."""
        if self._origins.is_paused:
            self._below = _modes_around()
            return
        self._go_on()

    def wake(self) -> bool:
        """Have this mode sleep no more, if the modes around it are those within which it fell
        asleep: else one of the program's would end in its place."""
        if self._below is not None:
            if self._below != _modes_around():
                return False
            self._below = None
            self._go_on()
        return True

    def _go_on(self) -> None:
        assert push_function_mode is not None
        push_function_mode(self)
        self.acts = True


_VIEWS: Final = ("T", "H", "mT", "mH", "real", "imag")
"""Attributes that are ops, too."""


def _makes_nodes(function: Any, types: Any, args: Any, kwargs: Any) -> bool:
    """Return whether a call may make nodes; those of a subclass, of which asking would run code of
    the program's, may."""
    if not torch_c.is_grad_enabled():
        return False
    if type(function) is GETTER and function.__self__.__name__ not in _VIEWS:
        return False
    given = [*args, *kwargs.values()] if kwargs else args
    if any(each is not torch.Tensor for each in types):  # methods without arguments tell of this
        return True
    return any(tensor.requires_grad for tensor in tensors_in(given))


_DROPOUTS: Final = frozenset([
    torch.dropout, torch.feature_dropout, functional.dropout, functional.dropout1d,
    functional.dropout2d, functional.dropout3d,
])  # fmt: skip

_WITH_CONSTANTS: Final = frozenset([
    torch.add, torch.sub, torch.rsub, torch.where, torch.masked_fill, torch.Tensor.add,
    torch.Tensor.add_, torch.Tensor.sub, torch.Tensor.sub_, torch.Tensor.__rsub__,
    torch.Tensor.masked_fill, torch.Tensor.masked_fill_,
])  # fmt: skip
"""Functions whose nodes do not save the constants that they are given, by position as their op."""

_DROPOUT_MODULES: Final = frozenset([
    torch.nn.Dropout, torch.nn.Dropout1d, torch.nn.Dropout2d, torch.nn.Dropout3d
])  # fmt: skip


def _modes_around() -> tuple[int, Any]:
    """Return how many function modes of this thread act, and the innermost one."""
    return function_mode_count(), innermost_function_mode()


def _is_plain(module: Any) -> bool:
    """Return whether a module is PyTorch's own, and was given no function of the program's."""
    given = own_attributes(module)
    return (
        type(module).__module__.startswith("torch.nn.modules.")
        and not has_hooks(module)
        and "forward" not in given
        and not any(map(_may_be_theirs, given.values()))
    )


def _may_be_theirs(value: Any) -> bool:
    """Return whether a value may be a function of the program's, such as an activation."""
    if not callable(value) or isinstance(value, BuiltinFunctionType):
        return False
    return not str(getattr(value, "__module__", "")).startswith("torch.")


class _Scope(NamedTuple):
    """A module that runs, and whether all that runs belongs to the line that called it or one
    around it; of that one, the first node, the line, and the version of what it was given."""

    at: ScopePath
    whole: bool
    caller: tuple[int, Source, int | None] | None


# made in a third of the time that its names take
_made_scope: Final = cast("Callable[[Any], _Scope]", partial(tuple.__new__, _Scope))
_made_path: Final = cast("Callable[[Any], ScopePath]", partial(tuple.__new__, ScopePath))


class Modules:
    """Notes which module runs, by the path that it has in the outermost one.

    All that a module made of PyTorch's own runs belongs to the line that calls it: while it runs,
    no torch function is asked for its line.
    """

    def __init__(self, origins: Origins, lines: Lines | None) -> None:
        self._origins = origins
        self._lines = lines
        self._whole: dict[int, tuple[ref[Any], bool]] = {}  # by identity: all of it is PyTorch's
        self._thread = get_ident()  # numbers of another one would be taken for those of this one
        self._scope = _Scope(OUTSIDE, False, None)
        self._known: dict[int, ModulePaths] = {}  # by identity of the outermost module
        self._noted: Any = None  # what notes a call

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Within it, each call of a module is noted.

        Not by PyTorch's global hooks: with them, a call takes 4 us longer than by this, and
        ctrl+c in a module would leave it running for ever.
        """
        call = torch.nn.Module.__call__

        thread, origins = self._thread, self._origins
        before = uncompiled(fenced("modules")(Modules._before))
        after = uncompiled(fenced("modules")(Modules._after))

        def noted(module: Any, *args: Any, **kwargs: Any) -> Any:
            # within an outermost one that has begun, as nearly always where modules rest
            if origins.inside or is_dynamo_compiling():
                return call(module, *args, **kwargs)
            if get_ident() != thread or not origins.noting:
                return call(module, *args, **kwargs)
            if origins.rests:
                self._begin(module, args, kwargs)
                origins.inside = True
                try:
                    return call(module, *args, **kwargs)
                finally:
                    origins.inside = False
            outside = before(self, module, args, kwargs)
            try:
                return call(module, *args, **kwargs)
            finally:
                if outside is not None:
                    after(self, module, args, outside)

        update_wrapper(noted, call)
        # as PyTorch's own frames of a call are no part of what is compiled
        skip_code(noted)
        self._noted = Replaced(torch.nn.Module, "__call__", noted)
        try:
            yield
        finally:
            self._noted.take_away()

    def step_aside(self, _given: Any) -> bool:
        """Have calls of modules not be noted, unless the program has put a function of its own
        around what notes them; return whether they are not."""
        return self._noted is not None and self._noted.take_away()

    def come_back(self) -> None:
        """Have them be noted again."""
        self._noted.put_back()

    def _before(self, module: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> _Scope:
        """Note that a module begins with what it is ``given``; returns what ran outside of it."""
        outside = self._scope
        paths = outside.at.paths
        if paths is None:
            self._begin(module, given, named)
            outermost = outermost_of(module, sys._getframe(2))
            paths = self._known.get(id(outermost))
            if paths is None or not paths.are_of(outermost):
                paths = self._known[id(outermost)] = ModulePaths(outermost)
            paths.searched = False
        path = paths.of(module)
        if path is None:
            path = joined(outside.at.path, type(module).__name__)
        assert sequence_nr is not None
        number, caller = sequence_nr(), None
        at = _made_path((outside.at.around, paths, path, ModuleCall(path, outside.at.call)))
        self._origins.enter(at, number)
        whole = outside.whole
        if not whole and self._lines is not None and self._is_pytorchs(module):
            module_caller = sys._getframe(2)
            frame = user_frame(module_caller)
            line = user_source(frame)
            if line is not None and self._lines.suspend():
                self._origins.runs(module_caller, frame, number)
                whole, caller = True, (number, line, version_of(given))
        self._scope = _made_scope((at, whole, caller))
        return outside

    @fenced("modules")
    def _begin(self, module: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Note that an outermost module begins."""
        if self._scope.at.paths is None:
            self._origins.modules.note(module)
            self._origins.note_given(module, given, named)
            events = noted.get()
            if events is not None:
                note_call(
                    events, module, given[0] if given else None, unobserved,
                    has_gradients=torch_c.is_grad_enabled(), frame=sys._getframe(3),
                )  # fmt: skip

    @contextmanager
    def named(self, name: str) -> Iterator[None]:
        """Ops inside belong to the scope ``name``, within those around it."""
        if get_ident() != self._thread:
            yield
            return
        assert sequence_nr is not None
        outside = self._scope
        around, paths, path, call = outside.at
        at = (
            ScopePath(joined(around, name))
            if paths is None
            else ScopePath(around, paths, joined(path, name), call)
        )
        self._scope = outside._replace(at=at)
        self._origins.enter(at, sequence_nr())
        try:
            yield
        finally:
            self._scope = outside
            self._origins.enter(outside.at, sequence_nr())

    def _after(self, module: Any, given: tuple[Any, ...], outside: _Scope) -> None:
        """Note that ``module``, which runs, has ended, inside of ``outside``."""
        assert sequence_nr is not None
        number = sequence_nr()
        caller, self._scope = self._scope.caller, outside
        if caller is not None:
            assert self._lines is not None
            start, line, version = caller
            if version is not None and version_of(given) != version:
                self._origins.changes.note(given[0], version, line)
            if number != start:
                self._origins.ran(start, number, line)
                if type(module) in _DROPOUT_MODULES:
                    self._origins.dropped(start, number)
            self._lines.resume()
        self._origins.enter(outside.at, number)

    def _is_pytorchs(self, module: Any) -> bool:
        """Return whether no code of the program's runs in a module, as far as can be seen."""
        known = self._whole.get(id(module))
        if known is None or known[0]() is not module:
            parts = [part for _, part in named_modules(module)]
            is_theirs = bool(parts) and all(map(_is_plain, parts))
            known = self._whole[id(module)] = ref(module), is_theirs
        return known[1]
