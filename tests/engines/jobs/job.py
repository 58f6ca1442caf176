"""What the programs of several processes here share: how they begin and end, and a record of every
collective that their process issues.

All of PyTorch's collectives are ops of ``c10d``, whoever issues them: ``torch.distributed``, the
functional ones, DTensor, FSDP, and the C++ reducer of DDP.  So each of these ops is given a kernel
in front of its own that writes a line, in the order in which the process issues them.  Waiting for
a functional collective is written down, too: it may be where another process has to act first.
"""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

LIMIT = 300
"""Seconds after which a process that waits for ever ends."""
_IN_FRONT = torch._C.DispatchKey.BackendSelect
_BEHIND = torch._C._dispatch_keyset_full_after(_IN_FRONT)


def _told(value: Any) -> str:
    """Say what is to be equal of an argument."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype)[6:]}{list(value.shape)}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_told, value))}]"
    if isinstance(value, torch.ScriptObject):
        if "ProcessGroup" not in str(value._type()):
            return "..."
        return f"group {dist.ProcessGroup.unbox(value).group_name}"
    return repr(value)


def _in_front_of(op: Any, file: Any) -> Any:
    def kernel(keys: Any, *args: Any, **kwargs: Any) -> Any:
        file.write(f"{op}({', '.join(map(_told, (*args, *kwargs.values())))})\n")
        file.flush()
        return op.redispatch(keys & _BEHIND, *args, **kwargs)

    return kernel


@contextmanager
def _noted(path: Path) -> Iterator[None]:
    """Write down each collective that this process issues."""
    libraries = {name: torch.library.Library(name, "IMPL") for name in ("c10d", "_c10d_functional")}
    with path.open("w", encoding="utf-8") as file:
        for name in torch._C._dispatch_get_all_op_names():
            namespace, _, rest = name.partition("::")
            if namespace == "c10d" or (rest == "wait_tensor" and namespace in libraries):
                base, _, overload = rest.partition(".")
                op = getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")
                kernel = _in_front_of(op, file)
                libraries[namespace].impl(rest, kernel, _IN_FRONT.name, with_keyset=True)
        yield
        for library in libraries.values():
            library._destroy()


@contextmanager
def job() -> Iterator[int]:
    """Be one of the processes of a job; gives its number."""
    signal.alarm(LIMIT)
    rank = int(os.environ["RANK"])
    with _noted(Path(f"collectives.{rank}")):
        dist.init_process_group("gloo")
        torch.manual_seed(0)
        # memory that nobody has written is NaN
        torch.use_deterministic_algorithms("UNWRITTEN_IS_NAN" in os.environ)
        yield rank
        dist.destroy_process_group()


def local(tensor: Any) -> Any:
    """Return the part of a tensor that this process has."""
    return tensor._local_tensor if hasattr(tensor, "_local_tensor") else tensor


def tell(parameters: Iterable[Any]) -> None:
    """Print a digest of parameters and their gradients."""
    digest = hashlib.sha256()
    for parameter in parameters:
        for tensor in (parameter.detach(), parameter.grad):
            if tensor is not None:
                digest.update(local(tensor).numpy().tobytes())
    print(digest.hexdigest())
