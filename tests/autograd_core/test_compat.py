"""Names that programs use and that do nothing here: each does what PyTorch does on one CPU."""

from __future__ import annotations

import copy
import importlib
import re
import subprocess
import sys
import textwrap
import typing
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import autograd_core
from autograd_core import compat

IMPORTED = (
    "amp", "backends.cudnn", "cuda.amp", "distributed", "fx", "jit", "_jit_internal",
    "multiprocessing", "nn.modules.utils", "nn.parallel", "onnx", "utils.data.distributed",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    """No test leaves a process group, or a setting, to the next."""
    for path in IMPORTED:
        importlib.import_module(f"autograd_core.{path}")
    yield
    if autograd_core.distributed.is_initialized():
        autograd_core.distributed.destroy_process_group()


def seen(namespace: Any, call: Callable[[Any], Any]) -> tuple[str, list[str]]:
    """What a call returns or raises, as text, and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = repr(call(namespace))
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
    told = [
        re.split(r"\n| \(Triggered", str(warning.message))[0]
        for warning in caught
        if warning.category is UserWarning
        and "set_default_tensor_type" not in str(warning.message)  # deprecated in PyTorch
    ]
    return found.replace("autograd_core", "torch"), told


def double(x: Any) -> Any:
    return x + x


PARITY: dict[str, list[Callable[[Any], Any]]] = {
    "cuda": [
        lambda t: t.cuda.is_available(), lambda t: t.cuda.device_count(),
        lambda t: t.cuda.is_initialized(), lambda t: t.cuda.manual_seed(1),
        lambda t: t.cuda.manual_seed_all(1), lambda t: t.cuda.empty_cache(),
        lambda t: t.cuda.memory_allocated(), lambda t: t.cuda.max_memory_allocated(),
        lambda t: t.cuda.is_bf16_supported(), lambda t: t.cuda.synchronize(),
        lambda t: t.cuda.current_device(), lambda t: t.cuda.get_device_name(0),
        lambda t: t.cuda.get_device_properties(0),
    ],
    "other devices": [
        lambda t: t.accelerator.is_available(), lambda t: t.accelerator.device_count(),
        lambda t: t.accelerator.current_accelerator(), lambda t: t.accelerator.synchronize(),
        lambda t: t.mps.is_available(), lambda t: t.mps.device_count(),
        lambda t: t.xpu.is_available(), lambda t: t.cpu.is_available(),
        lambda t: [getattr(t.ones(1), name) for name in (
            "is_cpu", "is_cuda", "is_ipu", "is_meta", "is_mkldnn", "is_mps", "is_nested",
            "is_quantized", "is_sparse", "is_xla", "is_xpu")],
    ],
    "backends": [
        lambda t: t.backends.cudnn.is_available(), lambda t: t.backends.cudnn.version(),
        lambda t: (t.backends.cudnn.enabled, t.backends.cudnn.benchmark,
                   t.backends.cudnn.deterministic, t.backends.cudnn.allow_tf32),
        lambda t: t.backends.mps.is_available(), lambda t: t.backends.mps.is_built(),
        lambda t: t.backends.cuda.is_built(), lambda t: t.backends.cuda.matmul.allow_tf32,
        lambda t: (t.backends.cuda.enable_flash_sdp(False), t.backends.cuda.flash_sdp_enabled(),
                   t.backends.cuda.enable_flash_sdp(True), t.backends.cuda.flash_sdp_enabled()),
        lambda t: t.version.cuda, lambda t: t.version.hip,
    ],
    "settings": [
        lambda t: (t.set_num_threads(1), t.get_num_threads()), lambda t: t.set_num_threads(0),
        lambda t: t.are_deterministic_algorithms_enabled(),
        lambda t: (t.use_deterministic_algorithms(True, warn_only=True),
                   t.are_deterministic_algorithms_enabled(), t.use_deterministic_algorithms(False)),
        lambda t: t.set_float32_matmul_precision("foo"),
        lambda t: (t.set_float32_matmul_precision("high"), t.get_float32_matmul_precision(),
                   t.set_float32_matmul_precision("highest")),
        lambda t: t.get_default_device(),
        lambda t: t.is_warn_always_enabled(),
        lambda t: (t.set_default_tensor_type("torch.DoubleTensor"), t.get_default_dtype(),
                   t.set_default_tensor_type(t.FloatTensor), t.get_default_dtype())[1::2],
        lambda t: t.set_default_tensor_type(t.LongTensor),
    ],
    "constants": [
        lambda t: [t.strided, t.sparse_coo, t.channels_last, t.contiguous_format],
        lambda t: isinstance(t.strided, t.layout), lambda t: isinstance(t.strided, t.memory_format),
        lambda t: t.ones(1).layout is t.strided, lambda t: t.ones(1).layout == t.sparse_coo,
        lambda t: [(d, d.itemsize, d.is_floating_point, d.is_complex, d.is_signed) for d in (
            t.bfloat16, t.complex64, t.cfloat, t.complex128, t.uint16, t.float8_e5m2)],
        lambda t: t.ones(1).dtype in (t.bfloat16, t.complex64),
        lambda t: isinstance(t.bfloat16, t.dtype),
    ],
    "compilers": [
        lambda t: t.jit.is_scripting(), lambda t: t.jit.is_tracing(),
        lambda t: t.jit.annotate(int, 3), lambda t: t.jit.Attribute(3, int),
        lambda t: t.jit.isinstance([1], list[int]), lambda t: t.jit.isinstance(1, str),
        lambda t: t.jit.Final is typing.Final, lambda t: t.jit.unused(double)(2),
        lambda t: t.jit.ignore(double)(2), lambda t: t.jit.ignore()(double)(2),
        lambda t: t.jit.export(double)(2), lambda t: t.jit.script_if_tracing(double)(2),
        lambda t: t.compiler.is_compiling(), lambda t: t.compiler.disable(double)(2),
        lambda t: t.compiler.disable(recursive=False)(double)(2),
        lambda t: t.onnx.is_in_onnx_export(),
        lambda t: t.overrides.has_torch_function((t.ones(1),)),
        lambda t: isinstance(t.nn.ReLU(), t.jit.ScriptModule),
    ],
    "functions": [
        lambda t: t.is_complex(t.ones(1)), lambda t: t.is_complex(3),
        lambda t: t._assert(True, "fine"), lambda t: t._assert(False, "not fine"),
        lambda t: t._check(True), lambda t: t._check(False, lambda: "not fine"),
        lambda t: t.spmm(t.ones(2, 2), t.ones(2, 1)), lambda t: t.spmm(t.ones(2, 2), t.ones(2)),
        lambda t: [parse(3) for parse in (
            t.nn.modules.utils._single, t.nn.modules.utils._pair, t.nn.modules.utils._triple,
            t.nn.modules.utils._ntuple(5))],
        lambda t: t.nn.modules.utils._pair([1, 2]), lambda t: t.utils.data.get_worker_info(),
    ],
    "mixed precision": [
        lambda t: t.is_autocast_enabled(), lambda t: t.is_autocast_enabled("cuda"),
        lambda t: t.get_autocast_dtype("cuda"), lambda t: t.get_autocast_cpu_dtype(),
        lambda t: t.clear_autocast_cache(),
        lambda t: t.amp.is_autocast_available("cpu"),
        lambda t: t.autocast("cpu", enabled=False).__enter__() is None,
        lambda t: isinstance(t.autocast("cuda"), t.autocast),
        lambda t: isinstance(t.autocast("cuda", dtype=t.bfloat16), t.autocast),
        lambda t: t.autocast("foo"), lambda t: t.autocast(3),
        lambda t: isinstance(t.autocast("mps", enabled=False), t.autocast),
        lambda t: t.amp.autocast("cuda", enabled=False)(double)(2),
        lambda t: isinstance(t.cuda.amp.autocast(True), t.autocast),
        lambda t: isinstance(t.cuda.amp.autocast(enabled=False), t.autocast),
        lambda t: t.amp.GradScaler("cuda").is_enabled(), lambda t: t.amp.GradScaler().get_scale(),
        lambda t: t.cuda.amp.GradScaler().state_dict(),
        lambda t: t.amp.GradScaler(enabled=False).scale([t.ones(1)]),
        lambda t: t.amp.GradScaler(enabled=False).load_state_dict({}),
    ],
    "no group": [
        lambda t: t.distributed.is_available(), lambda t: t.distributed.is_initialized(),
        lambda t: t.distributed.get_rank(), lambda t: t.distributed.get_world_size(),
        lambda t: t.distributed.barrier(), lambda t: t.distributed.all_reduce(t.ones(1)),
        lambda t: t.distributed.group.WORLD, lambda t: t.distributed.destroy_process_group(),
        lambda t: t.nn.parallel.DistributedDataParallel(t.nn.Linear(1, 1)),
        lambda t: t.nn.DataParallel(t.nn.Linear(1, 1)),
        lambda t: t.nn.parallel.DataParallel(t.nn.Linear(1, 1)).device_ids,
    ],
}  # fmt: skip


@pytest.mark.sampled(30)
@pytest.mark.torch
@pytest.mark.parametrize(
    "call", [pytest.param(call, id=f"{about}-{number}")
             for about, calls in PARITY.items() for number, call in enumerate(calls)]
)  # fmt: skip
def test_a_stub_does_what_pytorch_does(call: Callable[[Any], Any]) -> None:
    pytorch = pytest.importorskip("torch")
    for path in IMPORTED:
        importlib.import_module(f"torch.{path}")
    mine, theirs = seen(autograd_core, call), seen(pytorch, call)
    assert mine == theirs


GROUP: list[Callable[[Any], Any]] = [
    lambda t: t.distributed.is_initialized(), lambda t: t.distributed.get_rank(),
    lambda t: t.distributed.get_world_size(), lambda t: t.distributed.get_backend(),
    lambda t: t.distributed.barrier(), lambda t: t.distributed.broadcast(t.ones(1), 0),
    lambda t: t.distributed.all_reduce(t.ones(1), op=t.distributed.ReduceOp.SUM),
    lambda t: t.distributed.all_reduce(t.ones(1), async_op=True).wait(),
    lambda t: (lambda xs: (t.distributed.all_gather(xs, t.ones(2)), xs))([t.zeros(2)]),
    lambda t: (lambda xs: (t.distributed.all_gather_object(xs, "x"), xs))([None]),
    lambda t: (lambda xs: (t.distributed.gather(t.ones(2), xs), xs))([t.zeros(2)]),
    lambda t: (lambda x: (t.distributed.scatter(x, [t.ones(2)]), x))(t.zeros(2)),
    lambda t: (lambda x: (t.distributed.reduce_scatter(x, [t.ones(2)]), x))(t.zeros(2)),
    lambda t: t.distributed.get_rank(t.distributed.new_group([0])),
    lambda t: t.distributed.init_process_group("gloo"),
    lambda t: t.nn.parallel.DistributedDataParallel(t.nn.Linear(1, 1)),
    lambda t: list(t.nn.parallel.DistributedDataParallel(t.nn.Linear(1, 1)).state_dict()),
    lambda t: t.nn.parallel.DistributedDataParallel(t.nn.ReLU()),
]  # fmt: skip


@pytest.mark.torch
def test_a_group_of_one_process_does_what_pytorchs_does(
    tmp_path: Any,
) -> None:
    pytorch = pytest.importorskip("torch")
    found = []
    for torch in (autograd_core, pytorch):
        torch.distributed.init_process_group(
            "gloo", init_method=f"file://{tmp_path}/rendezvous", world_size=1, rank=0
        )
        try:
            found.append([seen(torch, call)[0] for call in GROUP])
        finally:
            torch.distributed.destroy_process_group()
    assert found[0] == found[1]


def test_more_processes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="one process: use world_size=1"):
        autograd_core.distributed.init_process_group("gloo", world_size=2, rank=0)
    monkeypatch.setenv("WORLD_SIZE", "4")  # as launchers of several processes do
    with pytest.raises(RuntimeError, match="one process: use world_size=1"):
        autograd_core.distributed.init_process_group("gloo")
    with pytest.raises(RuntimeError, match="one process: use nprocs=1"):
        autograd_core.multiprocessing.spawn(print, nprocs=2)
    called: list[Any] = []
    autograd_core.multiprocessing.spawn(lambda *args: called.append(args), args=(3,))
    assert called == [(0, 3)]


def test_a_wrapped_module_learns_as_the_module_itself() -> None:
    torch = autograd_core
    torch.distributed.init_process_group()
    found = []
    for wrap in (lambda m: m, torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel):
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 2)
        wrap(model)(torch.ones(4, 3)).square().sum().backward()
        found.append(model.weight.grad.tolist())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda t: t.autocast("cpu"), "pass enabled=False"),
        (lambda t: t.autocast("cpu", dtype=t.bfloat16), "pass enabled=False"),
        (lambda t: t.amp.GradScaler("cpu"), "pass enabled=False"),
        (lambda t: t.ones(1, dtype=t.bfloat16), "bfloat16 is not part of gradstep: use float32"),
        (lambda t: t.ones(1).to(t.complex64), "complex64 is not part of gradstep: use float32"),
        (lambda t: t.nn.Linear(1, 1).to(t.bfloat16), "bfloat16 is not part of gradstep"),
        (lambda t: t.finfo(t.bfloat16), "bfloat16 is not part of gradstep"),
        (lambda t: t.jit.save(t.nn.ReLU(), "x.pt"), r"state_dict\(\) with torch.save"),
        (lambda t: t.onnx.export(t.nn.ReLU(), t.ones(1), "x.onnx"), "export the model with Py"),
        (lambda t: t.hub.load_state_dict_from_url("https://x/y.pt"), "read it with torch.load"),
        (lambda t: t.fx.symbolic_trace(t.nn.ReLU()), "use gradstep render"),
    ],
)
def test_what_would_change_the_results_is_refused_with_a_remedy(
    call: Callable[[Any], Any], said: str
) -> None:
    with pytest.raises(RuntimeError, match=said):
        call(autograd_core)


def test_the_default_device_can_only_be_the_cpu() -> (
    None
):  # in PyTorch a mode, for all that follows
    autograd_core.set_default_device("cpu")
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        autograd_core.set_default_device("cuda")


def test_a_disabled_scaler_steps_as_the_optimizer() -> None:
    torch = autograd_core
    w = torch.ones(2, requires_grad=True)
    optimizer, scaler = torch.optim.SGD([w], lr=0.5), torch.amp.GradScaler(enabled=False)
    with torch.autocast("cpu", enabled=False):
        loss = (w * w).sum()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0, 0]


def test_constants_are_themselves_after_copying() -> None:
    for name in ("strided", "channels_last", "bfloat16"):
        value = getattr(autograd_core, name)
        assert copy.deepcopy(value) is value


# -- how they are found -------------------------------------------------------------------------


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_nothing_of_it_is_imported_before_it_is_asked_for() -> None:
    assert (
        run("""
        import sys
        import autograd_core as torch
        from autograd_core import distributions, func, linalg, nn, optim, special, utils
        import gradstep.debugger, viz, gradstep_tui.cli
        torch.nn.Linear(2, 1)(torch.ones(2)).sum().backward()
        print([name for name in sys.modules if name.startswith("autograd_core.compat")])
        torch.cuda.is_available()
        print("autograd_core.compat" in sys.modules, "autograd_core.cuda" in sys.modules)
    """)
        == "[]\nTrue True"
    )


@pytest.mark.parametrize("path", [*compat.MODULES, *compat.ALIASES])
def test_a_module_can_be_imported_and_reached(path: str) -> None:
    module = importlib.import_module(f"autograd_core.{path}")
    parent, _, name = f"autograd_core.{path}".rpartition(".")
    assert getattr(importlib.import_module(parent), name) is module


@pytest.mark.torch
@pytest.mark.parametrize("path", [*compat.MODULES, *compat.ALIASES, *compat.NAMES])
def test_pytorch_has_the_same_names(path: str) -> None:
    pytest.importorskip("torch")
    if path == "utils.tensorboard":
        pytest.importorskip("tensorboard")
    theirs = importlib.import_module(f"torch.{path}".rstrip("."))
    if path not in compat.ALIASES:
        assert [name for name in compat.names_in(path) if not hasattr(theirs, name)] == []


@pytest.mark.parametrize("path", ["", "nn", "nn.functional", "linalg", "optim", "cuda", "jit"])
def test_a_name_that_is_nowhere_is_refused_in_pythons_words(path: str) -> None:
    module = importlib.import_module(f"autograd_core.{path}".rstrip("."))
    said = rf"^module '{module.__name__}' has no attribute 'foo': .* import torch"
    with pytest.raises(AttributeError, match=said) as caught:
        _ = module.foo
    assert (caught.value.name, caught.value.obj) == ("foo", module)
    assert not hasattr(module, "foo")
    with pytest.raises(ImportError, match=said):
        exec(f"from {module.__name__} import foo")


def test_a_module_that_is_nowhere_is_refused_in_pythons_words() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'autograd_core\.sparse'"):
        importlib.import_module("autograd_core.sparse")
    assert importlib.util.find_spec("autograd_core.sparse") is None


def test_switches_of_backends_can_be_set() -> None:
    backends = autograd_core.backends
    before = backends.cudnn.benchmark
    backends.cudnn.benchmark = True
    assert backends.cudnn.benchmark
    backends.cudnn.benchmark = before
