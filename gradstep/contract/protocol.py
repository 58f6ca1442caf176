"""Protocols between readers of a graph and the engine whose graph it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradstep.contract.driver import Driver
from gradstep.contract.ran import OnGradients, Ran, Record
from gradstep.graph.errors import NotInGraph
from gradstep.records import LEAF, BackwardCall, Extent, Gradient, Plan, Profile, Step, Tensor

if TYPE_CHECKING:
    from gradstep.contract.op_records import Departure
    from gradstep.graph.model import Cost, Graph, Shape, Source
    from gradstep.graph.statistics import Statistics
    from gradstep.graph.statistics_table import StatisticsTable

T = TypeVar("T")
EngineCall = Any
"""A :class:`~gradstep.records.BackwardCall` of the engine's own class."""
EngineNode = Any
"""A :class:`~gradstep.records.Node` of the engine's own class."""
EngineTensor = Any
"""A tensor of the engine's library, or a :class:`~gradstep.records.Tensor` that stands for one."""
OWN_RESULT: Final = -1
"""In the place of an input: the result of the node's own op."""


class CannotRerun(Exception):
    """The function of a node cannot be run again; says why."""


class Rerun(Protocol):
    """The function of a node, run again on copies of what it ran on, and its rule.

    Numbers are arrays, whatever the library: of a complex tensor with the real and the imaginary
    parts along a last dimension of their own.
    """

    @property
    def names(self) -> Sequence[str]:
        """The names of the inputs that need a gradient."""
        ...

    @property
    def points(self) -> Sequence[NDArray[Any]]:
        """The values of these inputs."""
        ...

    @property
    def eps(self) -> float:
        """The precision in which inputs and outputs are computed."""
        ...

    @property
    def size(self) -> int:
        """The number of elements that the outputs have together."""
        ...

    @property
    def custom(self) -> bool:
        """Whether the function is the user's own."""
        ...

    def direction(self, v: NDArray[Any]) -> NDArray[Any]:
        """Return ``v``, as far as an input may be moved along it."""
        ...

    def values(self, points: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Return the outputs there, flat and one behind the other, in float64."""
        ...

    def gradients(
        self, points: Sequence[NDArray[Any]], weights: NDArray[Any]
    ) -> Sequence[NDArray[Any] | None]:
        """Apply the rule to the gradient ``weights``, given for all outputs in one row: a gradient
        for each input, None for one that it leaves out."""
        ...


class Rule(NamedTuple):
    """The derivative rule of an input of a node.

    Attributes:
        input: the input, by its name in the table of rules.
        edge: the place of the input among the edges of the node, None where the rule is for several
            inputs together.
        names: the saved values that the rule reads, and its gradients: ``g``, or ``g[0]`` for the
            first of several.
        text: writes the rule, with other texts in the place of these names.
    """

    input: str
    edge: int | None
    names: Collection[str]
    text: Callable[[Mapping[str, str]], str]


class KeptForward(Protocol):
    """What a graph tells of its forward pass: a record of the op of each node, and values, by the
    record that each came from and the number of the output."""

    @property
    def records(self) -> Mapping[Any, Any]:
        """The record of each node that has an op."""
        ...

    def get(self, origin: Any, default: None = None, /) -> Any:
        """Return a value, None where it is unknown."""
        ...


Measured = Callable[[Any, float, int], None]
"""Takes note of a node, the seconds that it took, and the bytes that it sent."""


class Reading(Protocol):
    """What a library tells of a graph; a capture, and its picture, takes no more than that.

    Where a library knows nothing of something, the answer here stands, as for nodes that keep no
    values.
    """

    def owns(self, value: Any) -> bool:
        """Return whether ``value`` is a tensor, or a GradientEdge, of this library."""
        ...

    def edge_of(self, node: EngineNode) -> Any:
        """Return the GradientEdge at the first output of the op of ``node``; None of what is no
        ``grad_fn`` of this library."""
        return None

    def tensors(self, roots: Iterable[Any]) -> tuple[Tensor, ...]:
        """Return ``roots`` as capture sees them, on one graph."""
        ...

    def plan(self, tensors: Sequence[EngineTensor]) -> Plan:
        """Find what a backward pass from ``tensors`` runs, and in which order."""
        ...

    def known_graph(
        self, tensors: Sequence[EngineTensor], view: str, steps: Iterable[Step | int]
    ) -> Graph | None:
        """Return the graph of a call that was recorded, with the gradients of ``steps``, or of
        those with these indices; None of one that is to be captured."""
        return None

    def leaf(self, node: EngineNode) -> Any:
        """Return the tensor whose ``.grad`` an AccumulateGrad adds to, None if it is gone."""
        ...

    def user_tensor(self, tensor: EngineTensor) -> Any:
        """Return the program's own tensor, for one as capture sees it."""
        return tensor

    def origin(self, tensor: EngineTensor) -> Any:
        """Return what traced ``tensor``: its record and the number of the output; a Python number
        for a tensor that stands for one."""
        return tensor.record

    def stem(self, node: EngineNode) -> str:
        """Return what addresses call a node, "" where its name says it."""
        return ""

    def opaque(self, node: EngineNode) -> str:
        """Return why the inside of a node is not drawn, "" where it is, or there is none."""
        return ""

    def formula(self, node: EngineNode, kept: Iterable[Any], names: Any) -> str:
        """Return the derivative rules that a node runs, "" where they are unknown."""
        return ""

    def hooks(self, node: EngineNode) -> Iterable[Mapping[int, Any]]:
        """Return the hooks around ``node`` as far as they can be known: a table, by number, of
        those of each place and kind."""
        return ()

    def extent(self, value: Any) -> Extent | None:
        """Return the extent of a value that a node keeps, of a tensor or of a gradient; None of a
        Python number."""
        return None

    def is_input(self, value: Any) -> bool:
        """Return whether a value that a node keeps was given to its op, not made by it."""
        return True

    def is_detached(self, value: Any) -> bool:
        """Return whether a value that a node keeps was taken out of its graph in place."""
        return False

    def input_of(self, node: EngineNode, name: str) -> int | None:
        """Return which edge of ``node`` leads to the maker of what it keeps, or kept, as
        ``name``; OWN_RESULT for a result of its own, None where that is unknown."""
        return None


class Numbers(Protocol):
    """The numbers of tensors and of gradients."""

    def statistics(self, gradient: Gradient) -> Statistics | None:
        """Describe a gradient or a tensor; None of one without data."""
        ...

    def all_statistics(self, gradients: Sequence[Gradient]) -> StatisticsTable:
        """Describe several as :meth:`statistics` does each; where they are small, much faster."""
        ...

    def scalar_statistics(self, tensor: EngineTensor) -> Statistics | None:
        """Describe a tensor of one element; a larger one is not looked over unasked."""
        ...

    def array(self, gradient: Gradient) -> NDArray[np.generic] | None:
        """Return the numbers of a gradient on the CPU, dense; None where it has none that can be
        read here; those of this process, where several have a part each."""
        ...

    def part(self, tensor: Gradient) -> Shape | None:
        """Return the shape of the part that this process has of a tensor of which several have one
        each, None of any other: what is told of its numbers is told of that part."""
        ...

    def copy(self, tensor: EngineTensor) -> Any:
        """Return a copy of a tensor of the program as it is now, which only :meth:`Running.moved`
        changes; None where its memory is freed."""
        ...

    def shown(self, gradient: Gradient) -> Any:
        """Return an array, or a tensor, of these numbers that never changes."""
        ...

    def kept_tensor(self, node: EngineNode, name: str, kept: Any) -> Any:
        """Return the tensor that ``node.saved()`` tells of, None where there is none, or where to
        ask for it would run code of the program's."""
        ...


class Running(Protocol):
    """Calls of a program that runs, and its tensors between them."""

    def call(
        self, roots: Any, gradient: Gradient, retain_graph: bool | None, create_graph: bool
    ) -> BackwardCall:
        """Check and complete the arguments of ``backward``; errors as there."""
        ...

    def run(self, call: EngineCall) -> Any:
        """Carry out ``call`` as the library does; returns what it returns."""
        ...

    def carry_out(
        self, call: EngineCall, record: Record | None = None, hears: OnGradients | None = None
    ) -> Ran | None:
        """Carry out ``call`` so that more can be asked of it; None where that would be another
        call, and nothing is done.

        One in which code of the program's may run is carried out only with ``record``, which hears
        of passes inside it.  ``hears`` receives every gradient that a node sends, every sum of
        several, and all that the call makes.
        """
        ...

    def keeps_finite(self, call: EngineCall) -> bool:
        """Return whether nodes of a call are known to make finite gradients of finite values, but
        for those that overflow: as a rule it need not be kept, to find out where one began."""
        ...

    def made_finite(self, call: EngineCall, returned: Any) -> bool:
        """Return whether the roots of a call that has run, and the gradients that it made, are
        finite; False where it is in doubt."""
        ...

    def accumulated(self, call: EngineCall) -> Sequence[EngineTensor]:
        """Return the tensors of the program to whose ``.grad`` a call adds, quickly: no graph is
        read."""
        ...

    def may_run_user_code(self, call: EngineCall) -> bool:
        """Return whether code of the program's, as a hook, is known to run in a call, or may: such
        a call is not to be made twice."""
        ...

    def reads_unwritten(self, call: EngineCall) -> bool:
        """Return whether it is known that the roots of a call depend on memory that nobody has
        written: those of a dry run, whose numbers mean nothing."""
        ...

    def unseen(self) -> AbstractContextManager[None]:
        """Within it, modes and subclasses of tensors that the program has see nothing of what is
        done; nothing of the program's runs there."""
        ...

    def checksums(self, tensors: Sequence[EngineTensor]) -> Sequence[int | None]:
        """Return 64 bits for each tensor that tell whether two agree to the bit; None of one that
        has no numbers, or is None."""
        ...

    def lengths(self, tensors: Sequence[EngineTensor]) -> Sequence[float | None]:
        """Return the norm of each tensor, None of one that has no numbers."""
        ...

    def moved(
        self, tensors: Sequence[EngineTensor], copies: Sequence[Any]
    ) -> Sequence[float | None]:
        """Return the norm of the difference of each tensor and what :meth:`Numbers.copy` made of
        it, and make that as the tensor is now; None of one for which it has to be made anew."""
        ...

    def memory(self, tensor: EngineTensor) -> int | None:
        """Return the bytes that the library has in use on the device of a tensor, None where it
        does not count."""
        ...


class Stepping(Protocol):
    """Passes that are gone through node by node."""

    @property
    def told_later(self) -> Callable[[EngineCall], Callable[[], Driver] | None] | None:
        """Carries out a call of which somebody may want to know later; returns what makes a driver
        whose Steps tell of it as it was then, whatever the program has done since, or None, and
        nothing is done. None where this library knows nothing quicker than its driver."""
        ...

    def driver(self, call: EngineCall, *, halting: bool = False, keep: bool = True) -> Driver:
        """Return what runs ``call`` and tells of each node; with ``halting``, node by node, keeping
        the graph so that the pass can go on in another way, unless ``keep`` is false."""
        ...

    def seeds(self, call: EngineCall) -> Sequence[Gradient]:
        """Return the gradients that enter at the roots of ``call``."""
        ...


class Rules(Protocol):
    """The derivative rules of nodes, read and tried."""

    def rules(self, node: EngineNode) -> Sequence[Rule]:
        """Return the rules that ``node`` runs for the inputs that need a gradient, as far as they
        are known."""
        ...

    def rule_line(self, node: EngineNode) -> Source | None:
        """Return the line where the user wrote the rule of ``node``, None where they did not."""
        ...

    def rerun(self, node: EngineNode, wide: bool) -> Rerun:
        """Return what runs the function of ``node`` again: ``wide``, in float64; else in the dtypes
        of the original call.

        Raises:
            CannotRerun: nothing can; says why.
            Exception: whatever the function raises.
        """
        ...

    def isolated(self, function: Callable[[], T]) -> T:
        """Return what ``function``, which works with Reruns, returns, undisturbed by the program
        and without a trace in it."""
        ...


class Tracing(Protocol):
    """What is noted of the forward pass while a program runs."""

    @property
    def settle(self) -> Callable[[], None] | None:
        """Notes what it was told so far, None where everything is noted at once."""
        ...

    def note_ops(self, *, on: bool, modules: bool = True) -> None:
        """Go on to note what the program runs for the forward half, or leave that until it is
        wanted again: most steps of a loop are never looked at.  ``modules`` says whether to note
        these even then."""
        ...

    def describe_ops(self, *, on: bool) -> bool:
        """Go on to describe the results of ops and to copy what they are given, where tracing does
        so, or leave that until it is wanted again; returns whether it goes on, as it does where a
        mode of the program's is in the way."""
        ...

    def drop_trace(self, nodes: Sequence[EngineNode]) -> None:
        """Let go of what was traced of the ops of ``nodes``, which nobody will ask for again."""
        ...

    def has_run(self, module: Any) -> bool:
        """Return whether the program has called a module, other than from another one, since its
        last backward pass; False where that was not noted."""
        ...

    def departure(self, leaf: Any) -> Departure | None:
        """Return where a value that was computed from ``leaf``, a tensor of the program's, last
        became an array or a number."""
        ...


class Places(Protocol):
    """Lines and modules of a call for later ones, in which they are not noted."""

    def keep_places(self, call: EngineCall, title: str) -> bool | None:
        """Keep the lines and modules of the nodes of a call, if all were noted, for calls in which
        they are not, and whose graphs are alike.

        Returns whether such a graph was known; None where ops are to be noted in every call."""
        ...

    def take_places(self, call: EngineCall) -> str | None:
        """Give the nodes of a call whose lines and modules were not noted those that were kept of
        the last call with a graph that is alike.

        Returns the title of that call, "" where there is none; None where all were noted."""
        ...

    def taken_from(self, node: EngineNode) -> str:
        """Return the title of the call from which the line and the module of a node were taken, ""
        where they were noted."""
        ...


class Forward(Protocol):
    """What a graph itself tells of the forward pass, where nothing was traced."""

    def kept_forward(self, roots: Sequence[Any], order: Sequence[EngineNode]) -> KeptForward | None:
        """Return what the graph of a pass itself tells of the forward pass, None where only tracing
        tells."""
        ...

    def saved_results(self, order: Sequence[EngineNode]) -> Mapping[Any, Any]:
        """Return the result of the op of each node, as far as some node of ``order`` saved it;
        nothing where tracing tells of them."""
        ...

    def kept_constants(self, order: Sequence[EngineNode]) -> Mapping[tuple[Any, str], Any]:
        """Return the tensors without a gradient that nodes keep, by the node and the name, but for
        those that would run code of the program's."""
        ...


class Profiling(Protocol):
    """What nodes take."""

    def measuring(self) -> Measured | None:
        """Return what takes note of what a node took in a pass, where a profile of the program is
        on, or :func:`~.profiling.profiling`."""
        ...

    def costs(self, nodes: Iterable[EngineNode], profile: Profile | None) -> Mapping[Any, Cost]:
        """Return what ``profile``, or the one that is on, has measured of each node."""
        ...


class EngineCannot(NotInGraph):
    """An engine lacks what a command takes."""


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A library that computes gradients: its capabilities, None for one that it lacks.

    A command asks once for what it takes: ``engine.stepping or engine.cannot("step")``.

    Attributes:
        name: the name that users import: ``torch``, ``autograd_core``.
        version: the version of the library.
        settings: reads those on which numbers depend, such as the seed, as they are now.
    """

    name: str
    version: str = ""
    settings: Callable[[], Mapping[str, str]] = dict
    reading: Reading
    numbers: Numbers | None = None
    running: Running | None = None
    stepping: Stepping | None = None
    rules: Rules | None = None
    tracing: Tracing | None = None
    places: Places | None = None
    forward: Forward | None = None
    profiling: Profiling | None = None

    def cannot(self, act: str) -> NoReturn:
        """Refuse to ``act``, for lack of a capability."""
        raise EngineCannot(
            f"this engine cannot {act}: that of {self.name} offers no such thing; "
            f"gradstep render draws its graphs"
        )

    def leaf(self, node: EngineNode) -> Any:
        """Return the program's tensor whose ``.grad`` an AccumulateGrad adds to; None of another
        node, or if it is gone."""
        return self.reading.user_tensor(self.reading.leaf(node)) if node.kind == LEAF else None

    def settle_trace(self) -> None:
        """Have whoever traces the program note what it was told so far."""
        if self.tracing is not None and self.tracing.settle is not None:
            self.tracing.settle()
