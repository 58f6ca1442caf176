"""What PyTorch keeps for each thread, taken along to the one in which the engine runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, NamedTuple, Self

import torch

from gradstep.engines.pytorch.ops import Ops
from gradstep.engines.pytorch.origins import Lines
from gradstep.engines.pytorch.private import (
    grad_enabled,
    modes,
    pushed,
    saved_tensor_hooks,
    torch_c,
)

_AUTOCAST: Final = ("cpu", "cuda", "mps", "xpu")  # kinds of devices on which it can be enabled
_SMALLEST = 5e-324  # it is 0 for a thread that flushes denormal numbers


class ThreadState(NamedTuple):
    """The modes of a thread: gradients, inference, autocast of each kind of device, function and
    dispatch modes, hooks of saved tensors, denormal numbers; and the devices and streams that are
    current."""

    gradients: bool
    inference: bool
    autocast: tuple[tuple[str, torch.dtype, bool], ...]
    autocast_cache: bool
    function_modes: tuple[Any, ...]
    dispatch_modes: tuple[Any, ...]
    saved_hooks: tuple[Any, ...]
    flushes_denormal: bool
    device: int | None
    streams: tuple[Any, ...]

    @classmethod
    def of_this_thread(cls) -> Self:
        """Return the state of the thread that asks, without our own modes."""
        functions, dispatch = modes()
        gpu = torch.cuda.is_available() and torch.cuda.is_initialized()
        return cls(
            torch_c.is_grad_enabled(),
            torch_c.is_inference_mode_enabled(),
            tuple(
                (device, torch_c.get_autocast_dtype(device), torch_c.is_autocast_enabled(device))
                for device in _AUTOCAST
            ),
            torch_c.is_autocast_cache_enabled(),
            tuple(mode for mode in functions if not isinstance(mode, Lines)),
            tuple(mode for mode in dispatch if not isinstance(mode, Ops)),
            tuple(saved_tensor_hooks()),
            _SMALLEST * float(1) == 0,
            torch.cuda.current_device() if gpu else None,
            tuple(torch.cuda.current_stream(nr) for nr in range(torch.cuda.device_count()))
            if gpu
            else (),
        )

    @contextmanager
    def on_devices(self) -> Iterator[None]:
        """Within it, this thread is on the device and the streams of that one: what it reads on
        another stream may be memory that has been given to others since."""
        if self.device is None:
            yield
            return
        with torch.cuda.device(self.device):
            for stream in self.streams:
                torch.cuda.set_stream(stream)
            torch.cuda.set_device(self.device)
            yield

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Within it, this thread is in this state."""
        with ExitStack() as stack:
            if self.flushes_denormal:
                torch_c.set_flush_denormal(True)
            stack.enter_context(self.on_devices())
            stack.enter_context(torch.autograd.grad_mode.inference_mode(self.inference))
            stack.enter_context(grad_enabled(self.gradients))
            for options in self.autocast:
                stack.enter_context(
                    torch.amp.autocast_mode.autocast(*options, cache_enabled=self.autocast_cache)
                )
            for pack, unpack in self.saved_hooks:
                stack.enter_context(torch.autograd.graph.saved_tensors_hooks(pack, unpack))
            stack.enter_context(pushed(self.function_modes, self.dispatch_modes))
            yield
