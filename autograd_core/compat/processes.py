"""Distributed training in a single process."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from typing import Any, ClassVar

from autograd_core.autograd.grad_mode import no_grad
from autograd_core.compat.kinds import Names, always, setting
from autograd_core.nn.modules.module import Module
from autograd_core.tensor import Tensor


class ProcessGroup:
    """A group that contains this process only."""

    def __init__(self, backend: str) -> None:
        self.backend = backend


class group:  # lower case, as PyTorch spells it
    """The holder of ``WORLD``, which is None before ``init_process_group``."""

    WORLD: ClassVar[ProcessGroup | None] = None


class Work:
    """A completed communication."""

    def wait(self, timeout: Any = None) -> bool:
        """Return True."""
        return True

    is_completed = is_success = wait


class ReduceOp(Enum):
    """The reductions over processes; with one process, each returns its value."""

    SUM, AVG, PRODUCT, MIN, MAX = range(5)


def is_initialized() -> bool:
    """Return whether ``init_process_group`` was called."""
    return group.WORLD is not None


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    **others: Any,
) -> None:
    """Create the group of this process; it needs no address.

    Raises:
        ValueError: there is a group already.
        RuntimeError: more than one process is asked for.
    """
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    if max(world_size, int(os.environ.get("WORLD_SIZE", "1"))) > 1 or rank > 0:
        raise RuntimeError("gradstep runs in one process: use world_size=1")
    group.WORLD = ProcessGroup(backend or "gloo")


def destroy_process_group(process_group: Any = None) -> None:
    """Destroy the group."""
    if not is_initialized():
        raise AssertionError("Process group cannot be None")
    group.WORLD = None


def _world() -> ProcessGroup:
    if group.WORLD is None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )
    return group.WORLD


def _in_group(names: str, doc: str, effect: Callable[..., Any]) -> Names:
    """Return functions that need a group; those that are to be waited for are done at once."""

    def make(name: str) -> Callable[..., Any]:
        def call(*args: Any, async_op: bool = False, **kwargs: Any) -> Any:
            _world()
            result = effect(*args, **kwargs)
            return Work() if async_op else result

        call.__name__ = call.__qualname__ = name
        call.__doc__ = doc
        return call

    return {name: make(name) for name in names.split()}


def _fill(target: Any, source: Any, *others: Any, **options: Any) -> None:
    """Copy ``source`` to ``target``; each may be the only one in a list."""
    if isinstance(source, list):
        (source,) = source
    if isinstance(target, list) and not isinstance(target[0], Tensor):
        target[0] = source
        return
    with no_grad():
        (target[0] if isinstance(target, list) else target).copy_(source)


def _gather(source: Any, target: Any = None, *others: Any, **options: Any) -> None:
    if target is not None:
        _fill(target, source)


class _Wrapper(Module):
    module: Module

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


class DataParallel(_Wrapper):
    """A module that calls ``module``: there are no devices to share the batch."""

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []


class DistributedDataParallel(_Wrapper):
    """A module that calls ``module``; the mean of its gradients over one process leaves them
    unchanged.

    Raises:
        ValueError: ``init_process_group`` was not called, or devices are named.
        RuntimeError: no parameter of ``module`` requires a gradient.
    """

    def __init__(self, module: Module, device_ids: Any = None, *args: Any, **options: Any) -> None:
        super().__init__()
        _world()
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter "
                "that requires a gradient."
            )
        if device_ids:
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with "
                f"single-device/multiple-device GPU modules or CPU modules, but got {device_ids}"
            )
        self.module = module

    def no_sync(self) -> AbstractContextManager[None]:
        """Change nothing inside the block."""
        return nullcontext()


def spawn(
    fn: Callable[..., Any], args: Any = (), nprocs: int = 1, *others: Any, **options: Any
) -> None:
    """Call ``fn(0, *args)``, in this process.

    Raises:
        RuntimeError: more than one process is asked for.
    """
    if nprocs != 1:
        raise RuntimeError("gradstep runs in one process: use nprocs=1")
    fn(0, *args)


_PARALLEL: Names = {
    "DataParallel": DataParallel,
    "DistributedDataParallel": DistributedDataParallel,
}
MODULES: dict[str, Names] = {
    "distributed": {
        **always(True, "is_available is_gloo_available"),
        **always(False, "is_nccl_available is_mpi_available is_torchelastic_launched"),
        **_in_group("get_rank", "Return 0.", lambda *a: 0),
        **_in_group("get_world_size", "Return 1.", lambda *a: 1),
        **_in_group("get_backend", "Return the name that was given.", lambda *a: _world().backend),
        **_in_group("new_group", "Return the group.", lambda *a, **k: group.WORLD),
        **_in_group("all_reduce broadcast reduce barrier broadcast_object_list", "Do nothing.",
                    lambda *a, **k: None),
        **_in_group("all_gather all_gather_object all_gather_into_tensor scatter reduce_scatter "
                    "reduce_scatter_tensor", "Copy the second argument to the first.", _fill),
        **_in_group("gather gather_object", "Copy the first argument to the second.", _gather),
        "group": group, "ReduceOp": ReduceOp, "ProcessGroup": ProcessGroup,
        "init_process_group": init_process_group, "is_initialized": is_initialized,
        "destroy_process_group": destroy_process_group,
    },
    "nn.parallel": _PARALLEL,
    "nn.parallel.distributed": {"DistributedDataParallel": DistributedDataParallel},
    "multiprocessing": {
        **{name: getattr(multiprocessing, name) for name in multiprocessing.__all__},
        **setting("get_sharing_strategy", "set_sharing_strategy", "file_descriptor"),
        "spawn": spawn,
    },
}  # fmt: skip
IN_DATA: Names = always(None, "get_worker_info")
