"""Every private name of PyTorch that is used here, and what goes on without it.

One that is gone costs what it was for, and nothing else: :func:`missing` tells, and
``tests/engines/test_private_names.py`` names the one that changed when PyTorch does.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache, partial, wraps
from itertools import repeat
from math import nan
from operator import attrgetter
from threading import Thread, get_ident
from types import CodeType, MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar, cast

import numpy as np
import torch
import torch.autograd.graph
import torch.utils._python_dispatch
from numpy.typing import NDArray

from gradstep.contract.insides import Scaler
from gradstep.engines.pytorch.saved_memory import Layout, find_layout, unknown_hook
from gradstep.guest.fence import CannotObserve

TensorBase: Final[Any] = torch.Tensor.__base__
"""The methods of C, where the program puts nothing."""
Unhook = Callable[[], None]
T = TypeVar("T")
_F = TypeVar("_F", bound=Callable[..., Any])


class PrivateName(NamedTuple):
    """A name, and what is lost without it; ``older`` releases have another that does the same."""

    path: str
    lost: str
    older: str = ""


NAMES: Final = (
    PrivateName("autograd.graph._engine_run_backward", "backward() calls are not intercepted"),
    PrivateName("autograd._engine_run_backward", "backward() calls are not intercepted"),
    PrivateName("_C._autograd._get_sequence_nr", "modules and source lines are unknown"),
    PrivateName(
        "_C._functions.DelayedError",
        "gradients of gradients may differ in the last bit after stepping on the screen",
    ),
    PrivateName(
        "_C._current_graph_task_id", "passes inside a pass, or next to it, are mistaken for it"
    ),
    PrivateName("_C._FunctionBase", "custom Functions are drawn without their saved tensors"),
    PrivateName(
        "utils._python_dispatch._get_current_dispatch_mode",
        "gradients may differ in the last bit if values are recorded",
    ),
    PrivateName(
        "_C._autograd._unsafe_set_version_counter",
        "checks of custom Functions that change a tensor in place are visible to the program, and "
        "a pass that saved a .grad which it adds to cannot continue in another way",
    ),
    PrivateName("Tensor._backward_hooks", "hooks that are registered twice are not reported"),
    PrivateName(
        "Tensor._post_accumulate_grad_hooks", "hooks that are registered twice are not reported"
    ),
    PrivateName(
        "_C._autograd._profiler_enabled", "a profile may lack the ops of backward() unannounced"
    ),
    PrivateName("_C.DisableTorchFunction", "reading a graph is slow"),
    *(
        PrivateName(path, "functions that the program put in PyTorch's place run more often", older)
        for path, older in (
            ("_C._VariableFunctions", ""), ("_C._linalg.linalg_vector_norm", ""),
            ("_C._set_grad_enabled", ""), ("_C._to_dlpack_versioned", "_C._to_dlpack"),
        )
    ),
    *(
        PrivateName(path, "dispatch modes of the program see what gradstep computes")
        for path in (
            "_C._len_torch_dispatch_stack", "_C._pop_torch_dispatch_stack",
            "_C._push_on_torch_dispatch_stack",
        )
    ),
    PrivateName("_C._should_allow_numbers_as_tensors", "programs that use torch.jit may fail"),
    PrivateName("_foreach_norm", "--fail-on takes longer"),
    PrivateName("_C._nn.flatten_dense_tensors", "watching many calls takes longer"),
    *(
        PrivateName(path, "lines that changed a saved value in place are unknown")
        for path in ("_C._len_torch_function_stack", "multiprocessing.reductions.StorageWeakRef")
    ),
    PrivateName("autograd.function._HookMixin._register_hook", "recording a pass is slower"),
    PrivateName("_C._get_function_stack_at", "noting lines takes longer"),
    PrivateName("_C._functorch.peek_interpreter_stack", "calls inside torch.func are drawn"),
    PrivateName("_guards.detect_fake_mode", "calls that torch.compile makes are counted"),
    PrivateName("_guards.TracingContext.try_get", "intercepting a call takes longer"),
    PrivateName("_C._functorch.is_batchedtensor", "vectorized passes may look editable"),
    PrivateName("_C._functorch.is_legacy_batchedtensor", "vectorized passes may look editable"),
    *(
        PrivateName(path, "modes of the program are inactive in backward() on the screen")
        for path in (
            "overrides._get_current_function_mode_stack", "overrides._push_mode",
            "overrides._pop_mode", "utils._python_dispatch._get_current_dispatch_mode_stack",
            "utils._python_dispatch._push_mode", "utils._python_dispatch._pop_mode",
        )
    ),
    *(
        PrivateName(path, "saved-tensor hooks are inactive in backward() on the screen")
        for path in (
            "_C._autograd._top_saved_tensors_default_hooks",
            "_C._autograd._pop_saved_tensors_default_hooks",
            "_C._autograd._push_saved_tensors_default_hooks",
        )
    ),
)  # fmt: skip
NODE_ATTRIBUTES: Final = (
    PrivateName("_input_metadata", "shapes and dtypes are unknown"),
    PrivateName("_sequence_nr", "modules and source lines are unknown"),
)
"""Attributes that every node has, though they are not documented."""
FSDP_ATTRIBUTES: Final = tuple(
    PrivateName(path, "parameters under fully_shard have no names")
    for path in ("_get_fsdp_state", "_fsdp_param_group", "_unsharded_param")
)
"""Attributes of modules under ``fully_shard``; FSDP is not imported to look for them."""
MODULE_ATTRIBUTES: Final = (
    *(
        PrivateName(path, "hooks that are registered twice are not reported")
        for path in (
            "_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks",
        )
    ),
    PrivateName("_modules", "naming modules takes longer"),
)  # fmt: skip
SCALER_ATTRIBUTES: Final = tuple(
    PrivateName(path, "scaled losses cannot be told from others")
    for path in ("_enabled", "_scale", "_init_scale", "_growth_tracker")
)
"""Attributes of ``GradScaler``; its methods wait for the GPU, and the program may have others."""


def _find(path: str) -> Any:
    value: Any = torch
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


def uncounted(make: Callable[[], T]) -> T:
    """Return what ``make`` makes, in a thread of its own: each thread numbers its nodes, and those
    of the program begin with 0."""
    made: list[T] = []
    thread = Thread(target=lambda: made.append(make()))
    thread.start()
    thread.join()
    return made[0]


def _has_older(name: PrivateName) -> bool:
    return name.older != "" and _find(name.older) is not None


def missing() -> list[PrivateName]:
    """Return the names that this version of PyTorch does not have."""
    leaf = functions.zeros((), device="cpu", requires_grad=True)
    node = uncounted(lambda: TensorBase.exp(leaf).grad_fn)
    return [
        *(name for name in NAMES if _find(name.path) is None and not _has_older(name)),
        *(name for name in NODE_ATTRIBUTES if not hasattr(node, name.path)),
    ]


def complaint() -> str:
    """Say what is off with this version of PyTorch, "" where nothing is."""
    gone = missing()
    names = ", ".join(name.path for name in gone)
    lost = "; ".join(dict.fromkeys(name.lost for name in gone))
    return f"PyTorch {torch.__version__} has no {names}: {lost}" if gone else ""


def _nothing(*_: Any) -> Any:
    return None


# where the program puts nothing: what it may replace is imported from here
torch_c: Final[Any] = torch._C
functions: Final[Any] = _find("_C._VariableFunctions") or torch
vector_norm: Final[Any] = _find("_C._linalg.linalg_vector_norm") or torch.linalg.vector_norm
_set_grad_enabled: Final[Any] = _find("_C._set_grad_enabled") or torch.set_grad_enabled


schema_of: Final = attrgetter("_schema")
"""Returns the schema of an op."""
version_counter: Final = attrgetter("_version")
"""Returns how often a tensor was changed in place."""
base_of: Final = attrgetter("_base")
"""Returns the tensor that another one is a view of, None where it is none."""
parts_of_sparse: Final = TensorBase._indices, TensorBase._values
"""Return what a sparse tensor has, even where it has an element twice."""


def set_grad(leaf: torch.Tensor, gradient: Any) -> None:
    """Make ``gradient`` the ``.grad`` of a leaf, whatever its class makes of that."""
    TensorBase.grad.__set__(leaf, gradient)


def own_attributes(owner: Any) -> MappingProxyType[str, Any]:
    """Return what a class, a module of Python's or a module of ``torch.nn`` has itself."""
    return MappingProxyType(vars(owner))


def function_in(attribute: Any) -> Any:
    """Return the function in what makes it a method, None where there is none."""
    return getattr(attribute, "__func__", None)


class grad_enabled:
    """Within it, ops make nodes or none: ``torch.set_grad_enabled``, without a function of
    PyTorch's that the program may have replaced."""

    __slots__ = ("_before", "_mode")

    def __init__(self, mode: bool) -> None:
        self._mode = mode

    def __enter__(self) -> None:
        self._before = torch_c.is_grad_enabled()
        _set_grad_enabled(self._mode)

    def __exit__(self, *error: object) -> None:
        _set_grad_enabled(self._before)


def node_behind(tensor: torch.Tensor) -> Any:
    """Return the node to which gradients of a tensor go."""
    if tensor.grad_fn is not None:
        return tensor.grad_fn
    with grad_enabled(True):  # of a leaf, only nodes after it tell
        return TensorBase.view_as(tensor, tensor).grad_fn.next_functions[0][0]


_share_first: Final[Any] = _find("_C._to_dlpack") or torch.Tensor.__dlpack__
_share: Final[Any] = _find("_C._to_dlpack_versioned") or _share_first


class _Shared:
    """A tensor of the CPU, as NumPy reads it without a copy."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor

    def __dlpack__(self, *, max_version: Any = None, **_: Any) -> Any:
        return (_share_first if max_version is None else _share)(self._tensor)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the CPU


class _Writable:
    """An array that may be written to, which older versions of DLPack cannot say."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}
        self._array = array


def view_of(tensor: torch.Tensor) -> NDArray[Any]:
    """Return the numbers of a tensor on the CPU as an array that shares its memory.

    Not by ``tensor.numpy()``: that forbids the program for ever to resize the storage, as FSDP does
    to free parameters.
    """
    array = np.from_dlpack(_Shared(tensor))
    return array if array.flags.writeable else np.asarray(_Writable(array))


sequence_nr: Final[Callable[[], int] | None] = _find("_C._autograd._get_sequence_nr")
"""Returns the number that the next node gets in this thread."""


_unnumbered: Final[Callable[[str, int], Any] | None] = _find("_C._functions.DelayedError")


def raise_sequence_nr(to: int) -> None:
    """Let the next node that is made in this thread get the number ``to``, or a higher one."""
    count = 0 if sequence_nr is None else to - sequence_nr()
    if count > 0 and _unnumbered is not None:  # each node that is made takes a number
        deque(map(_unnumbered, repeat("", count), repeat(1)), maxlen=0)


running_pass: Final[Callable[[], int | None]] = _find("_C._current_graph_task_id") or _nothing
"""Returns the number of the pass that calls the hook which asks."""


def sequence_nr_of(node: Any) -> int:
    """Return the number of a node, 0 where PyTorch does not tell."""
    try:
        return int(node._sequence_nr())
    except AttributeError:
        return 0


def exponent_of(node: Any) -> float:
    """Return the exponent of a node of a power, NaN of one that is no real number."""
    exponent = getattr(node, "_saved_exponent", nan)
    return float(exponent) if isinstance(exponent, int | float) else nan


def metadata_of(node: Any) -> Any:
    """Return what PyTorch knows of each output of a node's op."""
    return getattr(node, "_input_metadata", ())


FunctionNode: Final[tuple[type, ...]] = tuple(filter(None, [_find("_C._FunctionBase")]))
"""The class of nodes of custom Functions."""

transform_level: Final[Callable[[], Any]] = (
    _find("_C._functorch.peek_interpreter_stack") or _nothing
)
"""Returns the innermost transform of torch.func that runs, None outside of all."""


dispatch_mode: Final[Callable[[], Any]] = (
    _find("utils._python_dispatch._get_current_dispatch_mode") or _nothing
)
"""Returns the innermost dispatch mode, None outside of all."""

dispatch_mode_count: Final[Callable[[], int]] = _find("_C._len_torch_dispatch_stack") or (lambda: 0)

_is_batched: Final[list[Any]] = [
    found
    for path in ("_C._functorch.is_batchedtensor", "_C._functorch.is_legacy_batchedtensor")
    if (found := _find(path)) is not None
]


def is_batched(tensor: Any) -> bool:
    """Return whether a tensor stands for several, one per run of a vectorized function."""
    return any(ask(tensor) for ask in _is_batched)


is_profiling: Final[Callable[[], bool]] = _find("_C._autograd._profiler_enabled") or _nothing
"""Returns whether a profile is being made of this thread."""

_set_versions: Final[Any] = _find("_C._autograd._unsafe_set_version_counter") or _nothing


def _takes_several() -> bool:
    try:
        _set_versions((functions.zeros(0, device="cpu"),), (0,))
    except TypeError:
        return False
    return True


_TAKES_SEVERAL: Final = _takes_several()


def set_version(tensor: torch.Tensor, version: int) -> None:
    """Set how often a tensor counts as changed in place."""
    if _TAKES_SEVERAL:
        _set_versions((tensor,), (version,))
    else:
        _set_versions(tensor, version)


_norms: Final[Any] = _find("_foreach_norm")


def norms(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Return the norm of each of some tensors of one floating dtype on one device: on a GPU by one
    reduction, of float16 and the like, in which it would overflow, in float32."""
    wide = torch.float32 if tensors[0].dtype.itemsize < 4 else None
    if _norms is None:
        return [vector_norm(tensor, dtype=wide) for tensor in tensors]
    norms: list[torch.Tensor] = list(_norms(tensors, 2, wide))
    return norms


_flatten: Final[Any] = _find("_C._nn.flatten_dense_tensors")


def flattened(tensors: list[torch.Tensor]) -> torch.Tensor:
    """Return a copy of the elements of tensors of one dtype, on one device, one after the other."""
    if _flatten is None or len(tensors) == 1:  # of one it would make no copy
        return functions.cat([TensorBase.reshape(tensor, -1) for tensor in tensors])
    flat: torch.Tensor = _flatten(tensors)
    return flat


def skip_code(function: Any) -> None:
    """Have ``torch.compile`` not look at frames of a function, only at those that it calls."""
    _set_strategy(function.__code__, whole=False)


def uncompiled(function: _F) -> _F:
    """Return ``function``; ``torch.compile`` looks neither at it nor at what it calls."""
    code: Any = getattr(function, "__code__", None)
    if _set_strategy(code, whole=True):
        return function
    disable: Any = _find("_disable_dynamo")
    if disable is None:
        return function
    disabled = disable(function)

    @wraps(function)
    def unseen_once_there(*given: Any, **named: Any) -> Any:
        # imports what compiles, which runs ops, in sight of the program's modes
        there = "torch._dynamo" in sys.modules
        return (disabled if there else function)(*given, **named)

    return cast("_F", unseen_once_there)


def _set_strategy(code: CodeType, whole: bool) -> bool:
    frames = _find("_C._dynamo.eval_frame")
    if not hasattr(frames, "set_code_exec_strategy"):  # PyTorch is older
        if not whole and hasattr(frames, "skip_code"):
            frames.skip_code(code)
        return False
    skip, default = frames._FrameAction.SKIP, frames._FrameAction.DEFAULT
    strategy = frames._FrameExecStrategy(skip, skip if whole else default)
    frames.set_code_exec_strategy(code, strategy)
    return True


_fake_mode: Final[Any] = _find("_guards.detect_fake_mode")
_tracing: Final[Callable[[], Any]] = _find("_guards.TracingContext.try_get") or (lambda: True)
_PLAIN: Final = frozenset([torch.Tensor, torch.nn.Parameter])


@uncompiled
def is_traced(tensors: Sequence[Any]) -> bool:
    """Return whether tensors stand for others while a function is compiled or exported."""
    if _fake_mode is None:
        return False
    # nearly always; to ask PyTorch takes as long as a small node
    if _tracing() is None and not dispatch_mode_count() and _PLAIN.issuperset(map(type, tensors)):
        return False
    return _fake_mode(tensors) is not None


class DispatchMode(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc]
    """A dispatch mode of ours: the compiler looks at none of it, nor is it imported for that."""

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        uncompiled(cls.__torch_dispatch__)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


def hook_tables(tensor: torch.Tensor) -> list[Any]:
    """Return the tables of the hooks that were registered on a tensor."""
    with functions_disabled():
        tables = (getattr(tensor, "_backward_hooks", None), late_hooks(tensor))
    return [table for table in tables if table is not None]


own_handles: Final[set[int]] = set()
"""Numbers of handles of hooks that are not the program's, and may last."""


def has_tensor_hooks(tensor: torch.Tensor) -> bool:
    """Return whether hooks are registered on a tensor; asked where nobody observes."""
    late = getattr(tensor, "_post_accumulate_grad_hooks", None)
    return bool(getattr(tensor, "_backward_hooks", None) or late)


def late_hooks(leaf: torch.Tensor, unknown: Any = None) -> Any:
    """Return the hooks of a leaf that run when its ``.grad`` is there, as optimizers do; what is
    ``unknown`` where PyTorch does not tell."""
    with functions_disabled():
        return getattr(leaf, "_post_accumulate_grad_hooks", unknown)


def part_of_module(module: Any, name: str) -> Any:
    """Return the module that a module knows by this name."""
    return module._modules[name]


def hooks_of_module(module: Any) -> list[Any]:
    """Return the tables of the hooks of a module, which may be half built."""
    own = vars(module)
    tables = [own.get(name.path) for name in MODULE_ATTRIBUTES[:-1]]
    return [table for table in tables if table]


def state_of_scaler(scaler: Any) -> Scaler:
    """Return the state of a scaler of losses."""
    own = vars(scaler)
    return Scaler(*[own.get(name.path) for name in SCALER_ATTRIBUTES])


def has_hooks(module: Any) -> bool:
    """Return whether hooks run before or after a module, which may be half built."""
    own = vars(module)
    return bool(own.get("_forward_hooks") or own.get("_forward_pre_hooks"))


def function_of(kind: type) -> Any:
    """Return the custom Function of a class of nodes, None of an op's."""
    return getattr(kind, "_forward_cls", None)


def steps_with_hooks(kind: Any, step: Any) -> Any:
    """Return the ``step`` of a kind of optimizers as it is once there is one of them."""
    if not getattr(step, "hooked", False):
        step = kind.profile_hook_step(step)
        step.hooked = True
    return step


_KEPT: Final = "_saved_"
_KEPT_RAW: Final = "_raw_saved_"


def is_kept(kind: type, name: str) -> bool:
    """Return whether nodes of a class of PyTorch's keep an argument of this name."""
    return hasattr(kind, _KEPT + name)


def kept(node: Any, name: str) -> Any:
    """Return what a node keeps under a name, None where there is nothing."""
    return getattr(node, _KEPT + name, None)


def kept_raw(node: Any, name: str) -> Any:
    """Return the same as PyTorch keeps it."""
    return getattr(node, _KEPT_RAW + name, None)


def saved_places(kind: type) -> tuple[tuple[str, str, str], ...]:
    """Return what nodes of a class of PyTorch's keep, and where PyTorch has that."""
    if issubclass(kind, FunctionNode):
        return (("saved", f"{_KEPT_RAW}tensors", "saved_tensors"),)
    names = [name.removeprefix(_KEPT_RAW) for name in dir(kind) if name.startswith(_KEPT_RAW)]
    return tuple([(name, _KEPT_RAW + name, _KEPT + name) for name in names])


_LENDS_BUFFERS: Final = _find("autograd.function.FunctionCtx.input_grad_buffers") is not None
"""Whether a custom backward may add to the sums of the pass itself: since PyTorch 2.15."""


def see_that_hooks_are_allowed(nodes: Iterable[Any]) -> None:
    """See that a pass runs with hooks after its ``nodes`` as it does without.

    Raises:
        CannotObserve: one is of a custom Function that adds to the sums of the pass itself.
    """
    for node in nodes if _LENDS_BUFFERS else ():
        if isinstance(node, FunctionNode) and _uses_buffers(type(node)):  # type: ignore[arg-type]
            raise CannotObserve(
                f"calls through {type(node).__name__}, which uses ctx.input_grad_buffers; PyTorch "
                "allows no hooks there"
            )


@lru_cache(maxsize=1024)
def _uses_buffers(kind: type) -> bool:
    """Return whether the backward of a custom Function uses ``ctx.input_grad_buffers``."""
    function = getattr(kind, "_forward_cls", None)
    codes = [getattr(getattr(function, "backward", None), "__code__", None)]
    for code in codes:
        if code is not None:
            if "input_grad_buffers" in (*code.co_names, *code.co_consts):
                return True
            codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return False


_SAVED: Final[Any] = _find("_C._autograd.SavedTensor")


def _find_layout() -> Layout | None:
    leaf = functions.ones(2, device="cpu", requires_grad=True)
    nodes = TensorBase.mul(leaf, leaf).grad_fn, TensorBase.exp(leaf).grad_fn
    saved = nodes[0]._raw_saved_self, nodes[1]._raw_saved_result
    return find_layout(saved, leaf._cdata, TensorBase.untyped_storage(leaf)._cdata)


_layout: Final = None if hasattr(_SAVED, "unpack_hook") else uncounted(_find_layout)


def _unpack_hook() -> Callable[[Any], Any]:
    if hasattr(_SAVED, "unpack_hook"):
        return attrgetter("unpack_hook")
    return (lambda _: unknown_hook) if _layout is None else _layout.unpack_hook


unpack_hook: Final = _unpack_hook()
"""Returns the hook that unpacks a ``SavedTensor``, None where reading it runs no code."""
shows_packed: Final = hasattr(_SAVED, "data")
"""Whether a ``SavedTensor`` shows what a hook packed."""


def memory_of_saved(raw: Any) -> int | None:
    """Return the identity of the memory of a ``SavedTensor`` that has no hooks, None where PyTorch
    does not tell."""
    if hasattr(raw, "data"):
        return memory_of(raw.data)
    return None if _layout is None else _layout.memory(raw)


def read_alone(raw: Any) -> Any:
    """Return one of several tensors that a node saved under one name.

    Raises:
        Untold: this PyTorch reads all of them or none.
        RuntimeError: it was freed or changed.
    """
    if not hasattr(raw, "unpack"):
        raise Untold
    try:
        return raw.unpack()
    except RuntimeError as error:
        if "detached in-place" in str(error):  # a result, which only its node can read
            return raw.data
        raise


class Untold(Exception):
    """This PyTorch does not tell something."""


_mixin: Final[Any] = _find("autograd.function._HookMixin")
_registering: Final[Any] = _find("autograd.function._HookMixin._register_hook")


class _Hooks(dict[Any, Any]):
    """The hooks of a node: what PyTorch has there takes two thirds more, of a million nodes 0.1 GB.
    Handles of the program's refer to it weakly."""

    __slots__ = ("__weakref__", "gradstep")


_plainly: Final = staticmethod(_registering)


class _registering_by:
    """Within it, a hook of a node that this thread adds gets into its table, None where there is
    none yet, by ``register``, which returns the table, and what is the handle; no generator, which
    takes as long to enter as a small op."""

    __slots__ = ("_register", "_thread")

    def __init__(self, register: Callable[[Any, Any], tuple[Any, Any]]) -> None:
        self._register, self._thread = register, get_ident()

    def __enter__(self) -> None:
        _mixin._register_hook = staticmethod(self._add)

    def __exit__(self, *error: object) -> None:
        _mixin._register_hook = _plainly

    def _add(self, table: Any, hook: Any) -> tuple[Any, Any]:
        return (self._register if get_ident() == self._thread else _registering)(table, hook)


def kept_beside(nodes: Iterable[Any]) -> list[dict[str, Any]]:
    """Return, for each of some nodes of PyTorch, what is kept beside it for as long as it lives: in
    its table of hooks, which the program does not see, as it does ``metadata``."""
    if _registering is None:
        return [node.metadata for node in nodes]
    tables: list[dict[str, Any]] = []

    def look(table: Any, _: None) -> tuple[Any, None]:
        table = _Hooks() if table is None else table
        if not hasattr(table, "gradstep"):
            table.gradstep = {}
        tables.append(table.gradstep)
        return table, None

    with _registering_by(look):
        for node in nodes:
            node.register_prehook(None)
    return tables


def hooks_around(nodes: Iterable[Any]) -> Sequence[Any]:
    """Return the hooks that run before some nodes of PyTorch, on what arrives there, and after
    them, on what they send; no table is made where there is none."""
    if _registering is None:
        return ()
    hooks: list[Any] = []

    def look(table: Any, _: None) -> tuple[Any, None]:
        if table is None:
            raise Untold
        hooks.extend(table.values())
        return table, None

    with _registering_by(look):
        for node in nodes:
            for register in (node.register_prehook, node.register_hook):
                try:
                    register(None)
                except Untold:
                    continue
    return hooks


def hook_nodes(
    wanted: Sequence[tuple[Callable[[Any], Any], Callable[..., Any]]],
    others: list[Any] | None = None,
) -> Unhook:
    """Register hooks, each by the method of its node; returns what removes all of them.  Those get
    into ``others`` that are not the first of their kind at their node.

    PyTorch makes a handle for each one, which takes twice as long as all else that it does.
    """
    if _registering is None or not wanted:
        handles = [register(hook) for register, hook in wanted]

        def remove_each() -> None:
            for handle in handles:
                handle.remove()

        return remove_each

    def add(table: Any, hook: Any) -> tuple[Any, Any]:
        if table and others is not None:
            others.append(hook)
        table = _Hooks() if table is None else table
        table[hook] = hook  # handles of the program's count their keys: none is a hook
        return table, table

    hooks = [hook for _, hook in wanted]  # not the methods, which take as much as these
    with _registering_by(add):
        tables = [register(hook) for register, hook in wanted]

    def remove() -> None:
        for table, hook in zip(tables, hooks, strict=True):
            table.pop(hook, None)
            if not table:
                table.clear()  # its node keeps it, and what it once had takes memory

    return remove


functions_disabled: Final[Callable[[], AbstractContextManager[None]]] = (
    _find("_C.DisableTorchFunction") or nullcontext
)
"""Within it, function modes and subclasses of tensors see nothing of what is done."""
functions_enabled: Final[Callable[[], AbstractContextManager[None]]] = (
    _find("_C._EnableTorchFunction") or nullcontext
)
"""Within it, modes and subclasses see what is done although ``unobserved`` is around it."""
_pop_dispatch_mode: Final[Any] = _find("_C._pop_torch_dispatch_stack")
_push_dispatch_mode: Final[Any] = _find("_C._push_on_torch_dispatch_stack")


_set_compiling: Final[Any] = _find("_C._dynamo.eval_frame.set_eval_frame") or (lambda _: None)


class unobserved:
    """Within it, function modes, dispatch modes and subclasses of tensors that the program has see
    nothing of what is done, nor is it compiled; no generator, which takes as long to enter as a
    small op."""

    __slots__ = ("_compiling", "_functions", "_modes")

    def __enter__(self) -> None:
        self._compiling = _set_compiling(None)
        count = dispatch_mode_count()
        self._modes = [_pop_dispatch_mode(None) for _ in range(count)] if count else ()
        self._functions = functions = functions_disabled()
        functions.__enter__()

    def __exit__(self, *error: object) -> None:
        self._functions.__exit__(None, None, None)
        for mode in reversed(self._modes):
            _push_dispatch_mode(mode)
        _set_compiling(self._compiling)


_stack_of_functions = _find("overrides._get_current_function_mode_stack")
_stack_of_dispatch = _find("utils._python_dispatch._get_current_dispatch_mode_stack")


def modes() -> tuple[list[Any], list[Any]]:
    """Return the function modes and the dispatch modes of this thread, the outermost first."""
    return (
        list(_stack_of_functions()) if _stack_of_functions else [],
        list(_stack_of_dispatch()) if _stack_of_dispatch else [],
    )


function_mode_count: Final[Callable[[], int]] = _find("_C._len_torch_function_stack") or (lambda: 1)
_function_mode_at: Final[Any] = _find("_C._get_function_stack_at")


def innermost_function_mode() -> Any:
    """Return the function mode of this thread that acts first, None where there is none."""
    count = function_mode_count() if _function_mode_at is not None else 0
    return _function_mode_at(count - 1) if count else None


class ModeStack(NamedTuple):
    """The modes of one kind that are on in this thread, the outermost first."""

    modes: Callable[[], list[Any]]
    push: Callable[[Any], None] | None
    pop: Callable[[], Any] | None

    def take(self, mode: Any) -> list[Any] | None:
        """Take a mode out, from wherever it is; return those outside of it, None where it is not
        there."""
        modes = list(self.modes())
        at = next((at for at, each in enumerate(modes) if each is mode), None)
        if at is None or self.push is None or self.pop is None:
            return None
        for _ in modes[at:]:
            self.pop()
        for each in modes[at + 1 :]:
            self.push(each)
        return modes[:at]

    def leave(self, mode: Any) -> None:
        """End a mode, also where others that began within it have not ended: coroutines take
        turns."""
        modes = list(self.modes())
        at = next((at for at, each in enumerate(modes) if each is mode), None)
        if at is None:
            return
        inside = modes[at + 1 :]
        if inside and (self.push is None or self.pop is None):
            return
        for _ in inside:
            self.pop()  # type: ignore[misc]
        mode.__exit__(None, None, None)
        for each in inside:
            self.push(each)  # type: ignore[misc]

    def put(self, mode: Any, outside: list[Any]) -> bool:
        """Put a mode inside of these, if they are still there; return whether they are."""
        modes = list(self.modes())
        if [*map(id, modes[: len(outside)])] != [*map(id, outside)]:
            return False
        assert self.push is not None
        assert self.pop is not None
        for _ in modes[len(outside) :]:
            self.pop()
        for each in (mode, *modes[len(outside) :]):
            self.push(each)
        return True


def unseen() -> AbstractContextManager[None]:
    """Return what hides from modes what is asked within it: the program may have some, and a
    default device is one of PyTorch's."""
    return unobserved() if function_mode_count() else AS_IT_IS


AS_IT_IS: Final = nullcontext()
own_again: Final[Callable[[Any], None]] = _find("Tensor._fix_weakref") or _nothing
"""Has Python own a tensor to which a weak reference led, and that C++ alone has kept."""
StorageWeakRef: Final[Any] = _find("multiprocessing.reductions.StorageWeakRef")


def memory_of(tensor: torch.Tensor) -> int | None:
    """Return the identity of the memory of a tensor, None of one that has none of its own."""
    try:
        with unseen():
            return int(TensorBase.untyped_storage(tensor)._cdata)
    except (RuntimeError, NotImplementedError, AttributeError):
        return None


push_function_mode: Final[Callable[[Any], None] | None] = _find("overrides._push_mode")
pop_function_mode: Final[Callable[[], Any] | None] = _find("overrides._pop_mode")


FUNCTION_MODES: Final = ModeStack(
    _stack_of_functions or list, push_function_mode, pop_function_mode
)
DISPATCH_MODES: Final = ModeStack(
    _stack_of_dispatch or list,
    _push_dispatch_mode,
    None if _pop_dispatch_mode is None else partial(_pop_dispatch_mode, None),
)

takes_numbers: Final[Callable[[str], bool]] = (
    _find("_C._should_allow_numbers_as_tensors") or _nothing
)
"""Returns whether an op of this name can be given numbers in the places of tensors."""

TRACES: Final = (
    ("_C", "_create_function_from_trace"), ("_C", "_create_function_from_trace_with_dict"),
    ("_C", "_create_graph_by_tracing"), ("_C.ScriptModule", "_create_method_from_trace"),
    ("_C.ScriptModule", "_create_method_from_trace_with_dict"), ("fx.Tracer", "trace"),
    ("export", "export"),
)  # fmt: skip
"""Where PyTorch runs code of the program's to trace it: ``torch.jit``, ``torch.onnx``, and
``torch.fx`` with ``make_fx`` and ``torch.export``."""
RUNS: Final = (("_C.ScriptFunction", "__call__"), ("_C.ScriptMethod", "__call__"))
"""Where it runs what ``torch.jit`` made of such code."""
COMPILES: Final = (
    ("_dynamo.eval_frame.OptimizeContext", "__call__"),
    ("_dynamo.eval_frame._TorchDynamoContext", "__call__"),
)
"""What makes a function that compiles another one when it is called: the first of these that there
is. Up to PyTorch 2.12, the one inherits it of the other."""


def mark_as_compiled(ours: Any) -> None:
    """Give a function that stands for one that compiles the identity of its own, where that has
    one: else it counts as one that calls what is compiled."""
    if hasattr(ours, "_torchdynamo_wrapper_id"):
        ours._torchdynamo_wrapper_id = id(ours)


def places_of(names: Iterable[tuple[str, str]]) -> Iterator[tuple[Any, str]]:
    """Yield those of these names, each with its owner, that this version of PyTorch has, and that
    are imported."""
    for path, name in names:
        owner: Any = torch
        module = torch.__name__
        for part in path.split("."):  # not by getattr(), which imports some
            module = f"{module}.{part}"
            # a package has a module as an attribute only when all of the package is imported
            owner = sys.modules.get(module) or (None if owner is None else vars(owner).get(part))
        if owner is not None and name in vars(owner):
            yield owner, name


@contextmanager
def pushed(functions: Iterable[Any], dispatch: Iterable[Any]) -> Iterator[None]:
    """Within it, these modes act, without being entered once more."""
    places = ("overrides", functions), ("utils._python_dispatch", dispatch)
    pops = []
    try:
        for place, given in places:
            push, pop = _find(f"{place}._push_mode"), _find(f"{place}._pop_mode")
            for mode in given if push and pop else ():
                push(mode)
                pops.append(pop)
        yield
    finally:
        for pop in reversed(pops):
            pop()


_SETTINGS: Final = {
    "default dtype": "get_default_dtype",
    "threads": "get_num_threads",
    "deterministic algorithms": "_get_deterministic_algorithms",
    "float32 matmul precision": "_get_float32_matmul_precision",
}
"""The settings on which numbers depend, and what reads them: not the functions that a program may
have replaced."""


def settings() -> dict[str, str]:
    """Return the settings on which numbers depend, as they are now."""
    known = {name: _find(f"_C.{path}") for name, path in _SETTINGS.items()}
    seed = str(torch.default_generator.initial_seed())
    return {"seed": seed} | {name: str(read()) for name, read in known.items() if read}


def is_shared_with_processes() -> bool:
    """Return whether this process may exchange tensors with others."""
    return bool(torch.distributed.is_available() and torch.distributed.is_initialized())


# that part of PyTorch is not imported to look for its classes


def _is_sharded(kind: type) -> bool:
    """Return whether tensors of a class are DTensors, of which each process has a part."""
    return hasattr(kind, "to_local") and hasattr(kind, "full_tensor")


def _is_awaited(kind: type) -> bool:
    """Return whether tensors of a class are results of functional collectives, for which whoever
    uses them waits."""
    return hasattr(kind, "trigger_wait")


def is_whole_here(kind: type) -> bool:
    """Return whether tensors of a class have their elements in this process, and need nothing of
    others when they are used."""
    return not (_is_sharded(kind) or _is_awaited(kind))


def is_copied(tensor: Any) -> bool:
    """Return whether each process has all of a tensor that is not whole here by its class: a copy,
    or what a collective brings to it."""
    if not _is_sharded(type(tensor)):
        return True
    return all(place.is_replicate() for place in tensor.placements)


def part_of_process(tensor: Any) -> Any:
    """Return the part that this process has of a tensor that is not whole here; None where that is
    still on its way: nobody has waited for it yet."""
    if _is_sharded(type(tensor)):
        with grad_enabled(False):  # or it makes a node
            return tensor.to_local()
    return getattr(tensor, "elem", None) if getattr(tensor, "completed", False) else None


def with_part(tensor: Any, part: torch.Tensor) -> Any:
    """Return a DTensor like another one that has a different part in this process, made of no op;
    ``part`` itself where PyTorch cannot do that."""
    try:
        names, told = tensor.__tensor_flatten__()
        inner = {name: getattr(tensor, name) for name in names}
        inner[next(name for name in names if isinstance(inner[name], torch.Tensor))] = part
        other = tensor.__tensor_unflatten__(inner, told, tensor.shape, TensorBase.stride(tensor))
        return TensorBase.requires_grad_(other, False)
    except (AttributeError, TypeError, ValueError, RuntimeError):  # told in another way
        return part


def are_added_here(one: Any, other: Any) -> bool:
    """Return whether a sum of two tensors, one of which is not whole here, is that of their parts,
    which each process adds alone."""
    if not (_is_sharded(type(one)) and _is_sharded(type(other))):
        return False
    if one.placements != other.placements or one.device_mesh != other.device_mesh:
        return False
    return all(
        place.is_shard() or place.is_replicate() or getattr(place, "reduce_op", "") == "sum"
        for place in one.placements
    )


def gathered_parameters(module: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the parameters of a module that FSDP has cut into parts, each with the whole one that
    ops use in its place."""
    for part in module.modules():
        if not hasattr(type(part), "_get_fsdp_state"):  # of the instance it takes ten times as long
            continue
        state = part._get_fsdp_state()
        group = getattr(state, "_fsdp_param_group", None)
        for parameter in getattr(group, "fsdp_params", ()):
            whole = getattr(parameter, "_unsharded_param", None)
            if whole is not None:  # it was gathered once
                yield parameter.sharded_param, whole


top_saved_tensor_hooks: Final[Any] = _find("_C._autograd._top_saved_tensors_default_hooks")
"""Returns the pair of hooks that pack and unpack what nodes of this thread save."""
push_saved_tensor_hooks: Final[Any] = _find("_C._autograd._push_saved_tensors_default_hooks")
"""Puts such a pair in force."""


def saved_tensor_hooks() -> list[tuple[Any, Any]]:
    """Return the hooks that pack and unpack saved tensors in this thread, the outermost first."""
    top, push = top_saved_tensor_hooks, push_saved_tensor_hooks
    pop = _find("_C._autograd._pop_saved_tensors_default_hooks")
    hooks: list[tuple[Any, Any]] = []
    if not (top and pop and push):
        return hooks
    while (pair := top(False)) is not None:
        hooks.insert(0, pair)
        pop()
    for pair in hooks:
        push(*pair)
    return hooks


RunBackward = Callable[..., Any]


def plain_run_backward() -> RunBackward:
    """Return what carries out a pass, whoever else is told of it."""
    engine: Any = torch.autograd.Variable
    return run_backward() or cast("RunBackward", engine._execution_engine.run_backward)


def run_backward() -> RunBackward | None:
    """Return what every call of ``backward`` and ``grad`` ends in."""
    function: RunBackward | None = _find("autograd.graph._engine_run_backward")
    return function


def set_run_backward(function: RunBackward) -> None:
    """Put ``function`` in its place, under both its names."""
    for place in (torch.autograd.graph, torch.autograd):
        if hasattr(place, "_engine_run_backward"):
            place._engine_run_backward = function
