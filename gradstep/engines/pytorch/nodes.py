"""Nodes of PyTorch as readers of a graph see them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from math import prod
from typing import Any, ClassVar, Final, NamedTuple
from weakref import WeakKeyDictionary

import torch
import torch.utils.checkpoint

from gradstep.engines.pytorch.formulas import formulas
from gradstep.engines.pytorch.origins import Origins
from gradstep.engines.pytorch.private import (
    FunctionNode,
    TensorBase,
    Untold,
    function_of,
    grad_enabled,
    hook_tables,
    hooks_around,
    kept,
    kept_raw,
    memory_of_saved,
    metadata_of,
    node_behind,
    read_alone,
    saved_places,
    sequence_nr_of,
    unobserved,
    unpack_hook,
)
from gradstep.engines.pytorch.releasing import let_go_in_parts
from gradstep.engines.pytorch.tensors import (
    UNREAD,
    DType,
    SavedTensor,
    SeenTensor,
    copy_of,
    dtype_of,
    extent_of,
    has_memory,
    shape_of,
)
from gradstep.graph.model import Cost, Source
from gradstep.records import GENERAL, LEAF, Extent, KeptValue, Port, SavedState

_ACCUMULATE_GRAD = "torch::autograd::AccumulateGrad"
_CONVOLUTION = "ConvolutionBackward0"
_NO_DTYPE = DType("", 0)
_NONE: Final[dict[str, tuple[Source, ...]]] = {}


@lru_cache(maxsize=4096)
def _same(shapes: tuple[tuple[int, ...] | None, ...]) -> tuple[tuple[int, ...] | None, ...]:
    """Return one tuple for all nodes of these shapes."""
    return shapes


class Freed:
    """In the place of a value that a node saved, which a call of the program's frees: it raises
    what PyTorch does.

    Attributes:
        line: of that call, None where it is unknown.
    """

    def __init__(self, words: str, line: Source | None) -> None:
        self._words, self.line = words, line

    def __call__(self, nothing: object) -> Any:
        error = RuntimeError(self._words)
        error.gradstep_note = note_of_freed(self.line)  # type: ignore[attr-defined]
        try:
            raise error
        finally:
            del error  # this frame would keep it, and what its traceback holds


def note_of_freed(line: Source | None) -> str:
    """Say which call freed values, "" where its line is unknown."""
    return "" if line is None else f"the call at {line.place} freed them"


class Packed:
    """What the program's hook has packed of a value that a node saves, in the place of that: so
    both can be let go of, which PyTorch leaves to the end of the graph."""

    __slots__ = ("unpack", "value")

    def __init__(self, unpack: Callable[[Any], Any], value: Any) -> None:
        self.unpack, self.value = unpack, value

    def free(self, freed: Freed) -> None:
        """Keep the value no longer."""
        self.unpack, self.value = freed, None


def unpacked(packed: Packed) -> Any:
    """Return the value, as the program's hook unpacks it."""
    return packed.unpack(packed.value)


def hook_of(raw: Any) -> Any:
    """Return what unpacks a value that a node saved: a hook of the program's, what refuses to, or
    None where reading it runs no code."""
    hook = unpack_hook(raw)
    return raw.data.unpack if hook is unpacked else hook


class TorchNode:
    """A node of PyTorch; ``origin`` is that node.

    There is a subclass for each name, as PyTorch has a class for each: what is the same for all
    nodes of a name is looked up once.
    """

    __slots__ = (
        "__weakref__", "_changed", "_saved", "cost", "edges", "graph", "hooks", "origin",
        "output_count", "output_dtype", "output_shapes", "sequence_nr",
    )  # fmt: skip

    kind: ClassVar[int] = GENERAL
    leads_nowhere: ClassVar[bool] = False
    torch_name: ClassVar[str]
    saved_names: ClassVar[tuple[str, ...]]
    saved_places: ClassVar[tuple[tuple[str, str, str], ...]]  # with where PyTorch has them
    opaque: ClassVar[str]
    is_function: ClassVar[bool]  # a custom Function
    transposed: ClassVar[bool] = False  # of a convolution, whose node has the same name

    def __init__(self, origin: Any, graph: TorchGraph) -> None:
        metadata = metadata_of(origin)
        self.origin, self.graph, self.hooks = origin, graph, None
        self.sequence_nr: int = sequence_nr_of(origin)
        self.output_count = len(metadata)
        self.output_shapes = _same(tuple([shape_of(described) for described in metadata]))
        self.output_dtype = dtype_of(metadata[0].dtype) if metadata else _NO_DTYPE
        self.edges: tuple[Any, ...] = ()
        self._saved: list[KeptValue] | None = None
        self.cost: Cost | None = None  # where it was measured
        self._changed: dict[str, tuple[Source, ...]] = _NONE

    @property
    def output_shape(self) -> tuple[int, ...] | None:
        return self.output_shapes[0] if self.output_shapes else None

    @property
    def ported(self) -> bool:
        """Whether its op has several outputs, which have a place each."""
        return self.output_count > 1

    @property
    def is_freed(self) -> bool:
        """Whether it kept values, and a pass has let go of them."""
        return any(state == "freed" for _, _, state in self.saved())

    def raw_saved(self) -> Iterator[Any]:
        """Yield what PyTorch keeps for it, as it keeps it: nothing of what is freed."""
        return raw_saved(self.origin, self.saved_places)

    def value_of(self, name: str) -> torch.Tensor | None:
        """Return what it keeps as ``name``, None where that is gone or would run code of the
        program's."""
        name, _, rest = name.partition("[")
        try:
            if self._unpacks("tensors" if self.is_function else name):
                return None
            held = self.origin.saved_tensors if self.is_function else kept(self.origin, name)
        except RuntimeError:
            return None
        tensor = held[int(rest.rstrip("]"))] if rest and held is not None else held
        return tensor if isinstance(tensor, torch.Tensor) else None

    def _unpacks(self, name: str) -> bool:
        """Return whether reading a value calls a hook of the program's, which unpacks it: that of a
        checkpoint runs a part of the forward pass again."""
        raw = kept_raw(self.origin, name)
        values = raw if isinstance(raw, tuple | list) else (raw,)
        return any(is_packed(value) for value in values if value is not None)

    def saved_argument(self, name: str) -> Any:
        """Return the argument ``name`` of its op, None where it does not save that, or where that
        is gone, a tensor after its pass, say, or where reading it would run code of the
        program's."""
        try:
            return None if self._unpacks(name) else kept(self.origin, name)
        except RuntimeError:
            return None

    def formulas(self) -> tuple[tuple[str, str], ...]:
        """Return the derivative rules that run here: (input, text of the rule)."""
        return formulas(self)

    @property
    def record(self) -> Any:
        """The op that made it, or where that was not traced, the module and the line."""
        known = self.graph.known_places
        return known[self] if self in known else self.graph.origins.record(self.sequence_nr)

    def name(self) -> str:
        return self.torch_name

    def saved(self) -> Iterator[KeptValue]:
        """List what it keeps, as it was when this was first asked."""
        if self._saved is None:
            with unobserved():
                values = _read_saved(self)
                if any(state == "packed" for _, _, state in values) and refusal(self.origin):
                    values = [(name, None, "freed") for name, _, _ in values]
                self._saved = values
        return iter(self._saved)

    def is_packed(self) -> bool:
        """Return whether reading what it keeps would call code of the program's."""
        if self._saved is not None or self.is_function:
            return any(state == "packed" for _, _, state in self.saved())
        return any(map(is_packed, self.raw_saved()))

    @property
    def freed_at(self) -> Any:
        """The line whose call freed what it kept, None where that is unknown."""
        if self in self.graph.known_ends:
            return self.graph.known_ends[self]
        hooks = [hook_of(raw) for raw in self.raw_saved()]
        freed = next((hook for hook in hooks if type(hook) is Freed), None)
        if freed is None and any(hook is not None for hook in hooks):
            freed = refusal(self.origin)
        if freed is not None:
            return freed.line
        return self.graph.origins.freed_at(self.sequence_nr) or self.graph.freed_by.get(self)

    def changed_at(self, name: str) -> tuple[Source, ...]:
        """Return the lines that changed in place what it kept as ``name``, the first one first."""
        return self._changed.get(name, ())

    def note_changed(self, name: str, raw: Any, error: RuntimeError) -> None:
        """Find the lines that changed a value since this node saved it."""
        version = re.search(r"expected version (\d+)", str(error))
        if version is not None:
            memory = memory_of_saved(raw)
            lines = self.graph.origins.changes.since(memory, int(version[1]))
            self._changed = {**self._changed, name: lines}

    @property
    def next_functions(self) -> Any:
        return self.origin.next_functions

    def __repr__(self) -> str:
        return repr(self.origin)


class TorchLeaf(TorchNode):
    """An AccumulateGrad; ``tensor`` is its leaf."""

    __slots__ = ("tensor",)

    kind = LEAF
    torch_name = _ACCUMULATE_GRAD
    saved_names = ()
    saved_places = ()
    opaque = ""
    is_function = False

    def __init__(self, origin: Any, graph: TorchGraph) -> None:
        super().__init__(origin, graph)
        self.tensor = SeenTensor(origin.variable, origin.variable, self, graph)

    @property
    def record(self) -> Any:
        """What was traced of the leaf."""
        return self.graph.origins.leaf(self.tensor.origin)

    def saved(self) -> Iterator[KeptValue]:
        return iter(())


_classes: Final[WeakKeyDictionary[type, dict[tuple[str, bool], type[TorchNode]]]] = (
    WeakKeyDictionary()
)
"""The subclasses of :class:`TorchNode`, by the class of PyTorch's nodes: to make one takes longer
than to read ten nodes."""


def _class_of(name: str, origin: type, transposed: bool) -> type[TorchNode]:
    """Return a class for nodes of a name."""
    places = saved_places(origin)
    is_function = issubclass(origin, FunctionNode)
    saved = ("tensors",) if is_function else tuple([place[0] for place in places])
    members = {
        "__slots__": (), "torch_name": name, "saved_names": saved, "opaque": why_opaque(origin),
        "saved_places": places, "is_function": is_function, "transposed": transposed,
    }  # fmt: skip
    return type(name.rpartition("::")[2], (TorchNode,), members)


class TorchGraph:
    """All nodes behind some tensors; made anew for each call, and gone with it."""

    def __init__(self, origins: Origins) -> None:
        self.origins = origins
        self.nodes: dict[Any, TorchNode] = {}
        self.leaves: dict[int, TorchLeaf] = {}  # by the identity of the tensor
        self.walked: Any = None  # see the module walking
        self.plans: dict[Any, Any] = {}  # of passes, by the edges that they begin at
        self.known_places: dict[TorchNode, Any] = {}  # of nodes that settled, what made them
        self.known_ends: dict[TorchNode, Any] = {}  # and, of those that are freed, which line did

    @cached_property
    def freed_by(self) -> dict[TorchNode, Source]:
        """The lines of the calls that began at nodes of this graph and freed it, by all nodes that
        they came to."""
        by_number = {node.sequence_nr: node for node in self.nodes.values()}
        lines: dict[TorchNode, Source] = {}
        for number, line in self.origins.freed_roots:
            waiting = [by_number[number]] if number in by_number else []
            while waiting:
                node = waiting.pop()
                if node not in lines:
                    lines[node] = line
                    ends = (edge.node if isinstance(edge, Port) else edge for edge in node.edges)
                    waiting += [end for end in ends if end is not None]
        return lines

    def settle(self, order: Sequence[TorchNode], roots: Iterable[SeenTensor]) -> None:
        """Keep what is told of the nodes of ``order``, and the numbers of tensors of one element,
        as they are now, whatever the program does next."""
        self.known_places = {node: node.record for node in order}
        self.known_ends = {node: node.freed_at for node in order if node.is_freed}
        leaves = [node.tensor for node in order if type(node) is TorchLeaf]
        with unobserved(), grad_enabled(False):
            for root in (*roots, *leaves):
                is_scalar = root._shape is not None and prod(root._shape) == 1
                if is_scalar and isinstance(root.origin, torch.Tensor):
                    root.number = copy_of(root.origin)

    def drop_trace(self) -> None:
        """Let go of what led from PyTorch's nodes here, and of where these were made."""
        self.nodes.clear()
        self.origins.forget()

    def put_back(
        self,
        roots: Iterable[SeenTensor],
        edges: Iterable[tuple[Any, int]],
        nodes: Iterable[Any],
        kept: Iterable[Sequence[tuple[str, KeptFacts]]],
        number_of: Callable[[int], Any],
    ) -> None:
        """Read the graph as it was in a pass: the ``edges`` at which ``roots`` entered it, what its
        ``nodes`` kept, and the numbers of roots and leaves, None where they are not needed."""
        for root, edge in zip(roots, edges, strict=True):
            root.edge = self.place(*edge)
            root.number = number_of(root.gradstep_identity)
        for origin, values in zip(nodes, kept, strict=True):
            node = self.nodes[origin]
            node._saved = [(name, seen_by(node, facts), "kept") for name, facts in values]
            if type(node) is TorchLeaf:
                leaf = node.tensor  # the program may have given it other data since
                leaf._shape, leaf.dtype = node.output_shape, node.output_dtype
                leaf.number = number_of(leaf.gradstep_identity)

    def tensor(self, origin: Any) -> SeenTensor:
        """Return a tensor, or a GradientEdge, as a root; reads the graph behind it."""
        with unobserved():
            return self._tensor(origin)

    def _tensor(self, origin: Any) -> SeenTensor:
        if isinstance(origin, torch.autograd.graph.GradientEdge):
            like = metadata_of(origin.node)[origin.output_nr]
            return SeenTensor(origin, like, UNREAD, self)
        return SeenTensor(origin, origin, UNREAD if origin.requires_grad else None, self)

    def edge_behind(self, origin: Any) -> TorchNode | Port:
        """Return where gradients of a tensor, or a GradientEdge, go; reads the graph there."""
        with unobserved():
            if isinstance(origin, torch.autograd.graph.GradientEdge):
                return self.place(origin.node, origin.output_nr)
            return self.place(node_behind(origin), origin.output_nr)

    def place(self, origin: Any, nr: int) -> TorchNode | Port:
        """Return the place to which gradients of output ``nr`` of ``origin`` go."""
        if origin not in self.nodes:
            self._read(origin)
        return _place(self.nodes[origin], nr)

    def _read(self, start: Any) -> None:
        with unobserved():
            self._read_from(start)

    def _read_from(self, start: Any) -> None:
        nodes, fresh = self.nodes, []
        nodes[start] = self._node(start)
        stack = [start]
        while stack:
            origin = stack.pop()
            following = origin.next_functions
            fresh.append((nodes[origin], following))
            for target, _ in following:
                if target is not None and target not in nodes:
                    nodes[target] = self._node(target)
                    stack.append(target)
        let_go_in_parts([node.origin for node, _ in fresh], [following for _, following in fresh])
        for node, following in fresh:
            node.edges = tuple(
                [
                    None if to is None
                    else there if (there := nodes[to]).output_count <= 1
                    else Port(there, nr)
                    for to, nr in following
                ]
            )  # fmt: skip

    def _node(self, origin: Any) -> TorchNode:
        name = origin.name()
        if name == _ACCUMULATE_GRAD:
            leaf = TorchLeaf(origin, self)
            self.leaves[leaf.tensor.gradstep_identity] = leaf
            return leaf
        # two custom Functions of one name are two classes, and save different things
        classes: Any = _classes.get(type(origin)) or _classes.setdefault(type(origin), {})
        transposed = name == _CONVOLUTION and bool(kept(origin, "transposed"))
        kind: Any = classes.get((name, transposed))
        if kind is None:
            kind = classes[name, transposed] = _class_of(name, type(origin), transposed)
        node: TorchNode = kind(origin, self)
        return node

    def keeps_values(self, origin: Any) -> bool:
        """Return whether a node of PyTorch keeps any."""
        with unobserved():
            return next(self._node(origin).saved(), None) is not None

    def edge_of(self, tensor: torch.Tensor) -> Any:
        """Return where a gradient of ``tensor`` would go, None where that is outside this graph."""
        return self.edge_at(id(tensor), *_maker_of(tensor))

    def edge_at(self, identity: int, maker: Any, nr: int) -> Any:
        """Return where a gradient of a tensor would go that is known by its identity, and that is
        output ``nr`` of the node ``maker``."""
        node = self.leaves.get(identity) or self.nodes.get(maker)
        return None if node is None else _place(node, nr)


def refusal(origin: Any) -> Freed | None:
    """Return the hook that refuses to run a node of PyTorch, as a call has freed what code of the
    program's had packed for it."""
    return next((hook for hook in hooks_around([origin]) if type(hook) is Freed), None)


@lru_cache(maxsize=4096)
def _places_of(kind: type) -> tuple[tuple[str, str, str], ...]:
    return saved_places(kind)


def raw_saved(origin: Any, places: tuple[tuple[str, str, str], ...] | None = None) -> Iterator[Any]:
    """Yield what a node of PyTorch keeps, as it keeps it: nothing of what is freed."""
    kind: Any = type(origin)
    for _, place, _ in _places_of(kind) if places is None else places:
        try:
            raw = getattr(origin, place, None)
        except RuntimeError:
            continue
        if isinstance(raw, tuple | list):
            yield from (value for value in raw if value is not None)
        elif raw is not None:
            yield raw


def why_opaque(kind: type) -> str:
    """Say why the inside of nodes of a class is not drawn, "" where it is, or there is none."""
    forward = function_of(kind)
    module = getattr(forward, "__module__", "")
    if module.startswith("torch._functorch._aot_autograd"):
        return "compiled: its ops are not drawn"
    if forward is torch.utils.checkpoint.CheckpointFunction:
        return "checkpoint: its ops and parameters are not drawn"
    if kind.__name__ == "CppFunction":
        return "written in C++: its ops are not drawn"
    return ""


def is_of_program(kind: type) -> bool:
    """Return whether code of the program's runs in nodes of a class: those of its own custom
    Functions, and those of PyTorch's that call it."""
    if not issubclass(kind, FunctionNode):
        return False
    module = getattr(function_of(kind), "__module__", "")
    in_torch = module.partition(".")[0] == "torch" and not module.startswith(_CALL_PROGRAMS)
    return not in_torch or bool(why_opaque(kind))


_CALL_PROGRAMS: Final = ("torch._functorch.", "torch._library.")
"""Modules of PyTorch whose Functions call what programs register, or other Functions."""


def may_change(origin: Any, origins: Origins) -> bool:
    """Return whether code of the program's is known at a node that may change in place what
    arrives there."""
    if hasattr(origin, "variable"):
        return any(hook_tables(origin.variable))
    return is_of_program(type(origin)) or sequence_nr_of(origin) in origins.hooks


def is_packed(raw: Any) -> bool:
    """Return whether reading a value that a node saved calls a hook of the program's."""
    hook = hook_of(raw)
    return hook is not None and type(hook) is not Freed


def _place(node: TorchNode, nr: int) -> TorchNode | Port:
    return Port(node, nr) if node.output_count > 1 else node


def _read_saved(node: TorchNode) -> list[KeptValue]:
    origin = node.origin
    values: list[KeptValue] = []
    for name, raw_name, value_name in node.saved_places:
        try:
            raw = getattr(origin, raw_name, None)
        except RuntimeError:  # of several it does not tell any more how many they were
            values.append((name, None, "freed"))
            continue
        if raw is None:
            continue
        if isinstance(raw, tuple | list):
            values += _several(node, name, raw, value_name)
            continue
        hook = hook_of(raw)
        if hook is not None:  # reading it would call code of the program's
            values.append((name, None, "freed" if type(hook) is Freed else "packed"))
            continue
        try:
            tensor = getattr(origin, value_name)
        except RuntimeError as error:
            values.append((name, None, _lost(node, name, raw, error)))
            continue
        if isinstance(tensor, torch.Tensor):
            values.append((name, _seen(node, tensor), "kept"))
    return values


def _several(
    node: TorchNode, name: str, raw: Sequence[Any], value_name: str
) -> Iterator[KeptValue]:
    """List values that a node keeps under one name."""
    names = [f"{name}[{number}]" for number in range(len(raw))]
    hooks = [hook for saved in raw if saved is not None and (hook := hook_of(saved)) is not None]
    if hooks:
        state: SavedState = "freed" if Freed in map(type, hooks) else "packed"
        yield from [(name, None, state) for name in names]
        return
    value = None
    with suppress(RuntimeError):  # one of them is not there as it was: which one, each tells
        value = getattr(node.origin, value_name)
    for number, known in enumerate(names):
        if value is not None:
            if isinstance(value[number], torch.Tensor):
                yield known, _seen(node, value[number]), "kept"
        elif raw[number] is not None:
            yield known, *_alone(node, known, raw[number])


def _alone(node: TorchNode, name: str, raw: Any) -> tuple[Any, SavedState]:
    """Read one of several values, of which one was freed or changed."""
    try:
        return _seen(node, read_alone(raw)), "kept"
    except Untold:
        return None, "packed"
    except RuntimeError as error:
        return None, _lost(node, name, raw, error)


def _lost(node: TorchNode, name: str, raw: Any, error: RuntimeError) -> SavedState:
    """Tell by what PyTorch says whether a value was freed or changed, and note where."""
    if "inplace operation" not in str(error):
        return "freed"
    node.note_changed(name, raw, error)
    return "changed"


def _maker_of(tensor: torch.Tensor) -> tuple[Any, int]:
    """Return the node of PyTorch that made a tensor, and which of its outputs it is."""
    try:
        return (tensor.grad_fn, tensor.output_nr) if tensor.requires_grad else (None, 0)
    except RuntimeError:  # a view whose base was changed in place under no_grad
        return None, 0


class KeptFacts(NamedTuple):
    """What is to be told of a value that a node keeps, besides its place in the graph: who made it,
    and what it is called where nobody did."""

    extent: Extent
    identity: int
    maker: Any
    output_nr: int
    record: Any
    number: float | None
    called: str


def facts_of(tensor: torch.Tensor, origins: Origins) -> KeptFacts:
    """Read what is to be told of a value that a node keeps."""
    number = _number_of(tensor) if TensorBase.dim(tensor) == 0 else None
    # a number that is written in the program is in a tensor that PyTorch made
    written = number is not None and not tensor.requires_grad and origins.ops is not None
    record = origins.ops.known(tensor) if written else origins.origin(tensor)
    facts = (
        extent_of(tensor), id(tensor), *_maker_of(tensor), record, number, origins.given_as(tensor)
    )  # fmt: skip
    return tuple.__new__(KeptFacts, facts)  # as an Extent is made


def seen_by(node: TorchNode, facts: KeptFacts) -> SavedTensor:
    """Return a value that a node keeps, as readers of the graph see it."""
    extent, identity, maker, nr, record, number, called = facts
    edge = node.graph.edge_at(identity, maker, nr)
    if edge is not None:
        number, called = None, ""
    owner = edge.node if type(edge) is Port else edge
    seen = (extent, edge, identity, owner is node, record, number, called)
    return tuple.__new__(SavedTensor, seen)


def _seen(node: TorchNode, tensor: torch.Tensor) -> SavedTensor:
    return seen_by(node, facts_of(tensor, node.graph.origins))


def _number_of(tensor: torch.Tensor) -> float | None:
    """Read a constant; without an op, which a mode of the program's would see."""
    if type(tensor) is not torch.Tensor or tensor.device.type != "cpu":
        return None
    if not has_memory(tensor):
        return None
    try:
        number = TensorBase.numpy(tensor).item()
    except (TypeError, RuntimeError):  # NumPy has no such dtype, or there is no data
        return None
    return number if isinstance(number, int | float) else None


def hooks_of(node: TorchNode) -> Iterator[Mapping[int, Any]]:
    """Return the tables of hooks of each tensor that ``node`` made, and of a leaf."""
    if isinstance(node, TorchLeaf):
        tables = hook_tables(node.tensor.origin)
    else:
        noted = node.graph.origins.hooks.get(node.sequence_nr, ())
        tables = [table for reference in noted if (table := reference()) is not None]
    yield from tables
