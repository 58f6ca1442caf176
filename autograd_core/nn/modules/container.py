"""Modules that contain others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, overload

from autograd_core.nn.modules.module import Module


class _Ordered(Module):
    """What Sequential and ModuleList share: children numbered from 0."""

    def _list(self) -> list[Module]:
        return [module for module in self._modules.values() if module is not None]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._list())

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> _Ordered: ...
    def __getitem__(self, index: int | slice) -> Module:
        if isinstance(index, slice):
            return self._made(dict(list(self._modules.items())[index]))
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return self._list()[index]

    def __setitem__(self, index: int, module: Module) -> None:
        self.add_module(list(self._modules)[index], module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)[index]
        for name in [names] if isinstance(names, str) else names:
            del self._modules[name]
        self._renumber(list(self._modules.values()))

    def __add__(self, other: Iterable[Module]) -> _Ordered:
        return self._made({str(number): module for number, module in enumerate([*self, *other])})

    def __iadd__(self, other: Iterable[Module]) -> _Ordered:
        return self.extend(other)

    def append(self, module: Module) -> _Ordered:
        """Append ``module``."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> _Ordered:
        """Append all of ``modules``."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> _Ordered | None:
        """Insert ``module`` before the one at ``index``."""
        modules: list[Module | None] = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, index: int) -> Module:
        """Remove and return the module at ``index``."""
        module = self[index]
        del self[index]
        return module

    def _renumber(self, modules: Iterable[Module | None]) -> None:
        self._modules = {str(number): module for number, module in enumerate(modules)}

    def _made(self, modules: dict[str, Module | None]) -> _Ordered:
        raise NotImplementedError


class Sequential(_Ordered):
    """A sequence of modules; the output of each is the input of the next."""

    def __init__(self, *modules: Module | dict[str, Module]) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], dict):
            for name, module in modules[0].items():
                self.add_module(name, module)
            return
        for number, child in enumerate(modules):
            if not isinstance(child, Module):
                raise TypeError(f"{type(child).__name__} is not a Module subclass")
            self.add_module(str(number), child)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            assert module is not None
            input = module(input)
        return input

    def _made(self, modules: dict[str, Module | None]) -> Sequential:
        return Sequential({name: module for name, module in modules.items() if module is not None})


class ModuleList(_Ordered):
    """A list of registered modules."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        for module in modules:
            self.append(module)

    def __repr__(self) -> str:
        """Write the modules line by line, equal neighbours on one: ``(0-2): 3 x ReLU()``."""
        runs: list[tuple[int, int, str]] = []
        for number, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], number, text)
            else:
                runs.append((number, number, text))
        lines = [
            f"({first}): {text}"
            if first == last
            else f"({first}-{last}): {last - first + 1} x {text}"
            for first, last, text in runs
        ]
        inside = "\n".join(lines).replace("\n", "\n  ")
        return f"{self._get_name()}(\n  {inside}\n)" if lines else f"{self._get_name()}()"

    def _made(self, modules: dict[str, Module | None]) -> ModuleList:
        return ModuleList(module for module in modules.values() if module is not None)


class ModuleDict(Module):
    """A dictionary of registered modules."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        self.update(modules or {})

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add all of ``modules``, replacing those with the same names."""
        for name, module in dict(modules).items():
            self.add_module(name, module)

    def __getitem__(self, name: str) -> Module:
        module = self._modules[name]
        assert module is not None
        return module

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def __delitem__(self, name: str) -> None:
        del self._modules[name]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, name: str) -> bool:
        return name in self._modules

    def pop(self, name: str) -> Module:
        """Remove and return the module named ``name``."""
        module = self[name]
        del self[name]
        return module

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def keys(self) -> Iterable[str]:
        return self._modules.keys()

    def values(self) -> Iterable[Module | None]:
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Module | None]]:
        return self._modules.items()
