"""The parts of the program's modules, and what becomes of their modes and buffers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import ref

from gradstep.contract.insides import insides_of
from gradstep.contract.module_paths import is_of_library, joined, named_modules
from gradstep.contract.parameters import own_parameters
from gradstep.findings.facts import Fact
from gradstep.guest.fence import attribute_of, read
from gradstep.recording.look import Look

_SMALL: Final = 1 << 12


@dataclass
class Part:
    """A module with parameters or buffers of its own, over the calls that were looked at.

    Attributes:
        module: a weak reference; ``kind`` its class.
        path: how the program calls it.
        looks: in how many calls it was looked at; ``training`` in how many it was in that mode,
            ``frozen`` in how many none of its parameters required a gradient.
        has_parameters: whether it has any itself.
        changed: whether one of these was changed between two looks.
        batches: of a batch norm, the number of each call, and how many batches it has had then.
        buffers: of its own: what each was when it was last looked at, and how often it had changed.
    """

    module: ref[Any]
    kind: str
    path: str
    is_of_library: bool
    looks: int = 0
    training: int = 0
    frozen: int = 0
    has_parameters: bool = False
    changed: bool = False
    versions: dict[str, tuple[int, int]] = field(default_factory=dict)
    buffers: dict[str, tuple[Any, int]] = field(default_factory=dict)
    kinds: dict[str, tuple[tuple[int, ...], str]] = field(default_factory=dict)
    batches: list[tuple[int, int]] = field(default_factory=list)


class Parts(Fact):
    """The modules of the program and all of their parts, by identity."""

    def __init__(self) -> None:
        self._parts: dict[int, Part] = {}

    def closely(self, look: Look) -> None:
        seen: set[int] = set()
        for name, outermost in look.names.modules.items():
            for path, module in named_modules(outermost):
                if id(module) not in seen:
                    seen.add(id(module))
                    self._note(look, joined(name, path), module)

    def _note(self, look: Look, path: str, module: Any) -> None:
        part = self._parts.get(id(module))
        if part is None or part.module() is not module:
            part = Part(ref(module), type(module).__name__, path, is_of_library(module))
            self._parts[id(module)] = part
        part.looks += 1
        part.training += attribute_of(module, "training") is True
        parameters = dict(own_parameters(module))
        part.has_parameters = bool(parameters)
        part.frozen += not any(tensor.requires_grad for tensor in parameters.values())
        for name, tensor in parameters.items():
            version = id(tensor), insides_of(tensor).version(tensor)
            part.changed |= part.versions.setdefault(name, version) != version
        for name, tensor in read(lambda: module.named_buffers(recurse=False)):
            size = 1
            for length in tensor.shape:
                size *= length
            now: Any = insides_of(tensor).version(tensor)
            numbers = look.engine.numbers
            if size <= _SMALL:  # a batch norm, and whoever writes .data, does not count versions
                now = numbers and numbers.all_statistics([tensor])[0], now
            now = id(tensor), now
            if name == "num_batches_tracked" and numbers and size == 1:
                seen = numbers.all_statistics([tensor])[0]
                if seen is not None:
                    part.batches.append((look.facts.index, int(seen.maximum)))
            before, changes = part.buffers.get(name, (now, 0))
            part.buffers[name] = now, changes + (before != now)
            dtype = str(attribute_of(tensor, "dtype")).rpartition(".")[2]
            part.kinds[name] = tuple(tensor.shape), dtype

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts.values())
