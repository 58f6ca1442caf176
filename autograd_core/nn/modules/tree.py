"""What a module holds, its parameters, buffers and children, and the walks over all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from autograd_core.tensor import Tensor

if TYPE_CHECKING:
    from autograd_core.nn.modules.module import Module

T = TypeVar("T")


class Tree:
    """The registries of a module, and what can be said of it and all below it."""

    training: bool
    _parameters: dict[str, Tensor | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, each once, parents first, with dotted names."""
        seen: set[Any] = set() if memo is None else memo
        stack: list[tuple[str, Any]] = [(prefix, self)]
        while stack:
            name, module = stack.pop()
            if remove_duplicate:
                if module in seen:
                    continue
                seen.add(module)
            yield name, module
            children = [(n, m) for n, m in module._modules.items() if m is not None]
            stack += [(join(name, n), m) for n, m in reversed(children)]

    def modules(self) -> Iterator[Module]:
        """This module and all below it, each once."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly below, each once, with their names."""
        return each_once((n, m) for n, m in self._modules.items() if m is not None)

    def children(self) -> Iterator[Module]:
        """The modules directly below."""
        return (module for _, module in self.named_children())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All parameters, each once, with dotted names."""
        return _held(self, "_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Tensor]:
        """All parameters, each once."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers, each once, with dotted names."""
        return _held(self, "_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers, each once."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """The module under a dotted name.

        Raises:
            AttributeError: there is none of that name.
        """
        found: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(found, name):
                raise AttributeError(f"{type(found).__name__} has no attribute `{name}`")
            found = getattr(found, name)
            if not isinstance(found, Tree):
                raise AttributeError(f"`{name}` is not an nn.Module")
        module: Module = found
        return module

    def get_parameter(self, target: str) -> Tensor:
        """The parameter under a dotted name."""
        return _get(self, "_parameters", target, "nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer under a dotted name."""
        return _get(self, "_buffers", target, "buffer")


def join(prefix: str, name: str) -> str:
    """A dotted name."""
    return f"{prefix}.{name}" if prefix else name


def each_once(pairs: Iterable[tuple[str, T]]) -> Iterator[tuple[str, T]]:
    """Only the first pair of every value."""
    seen: set[int] = set()
    for name, value in pairs:
        if id(value) not in seen:
            seen.add(id(value))
            yield name, value


def children_first(module: Module, visit: Callable[[Module], Any]) -> None:
    """Call ``visit`` with every module, once per place, children before their parents."""
    order, stack = [], [module]
    while stack:
        found = stack.pop()
        order.append(found)
        stack += [child for child in found._modules.values() if child is not None]
    for found in reversed(order):
        visit(found)


def _held(
    tree: Tree, registry: str, prefix: str, recurse: bool, once: bool
) -> Iterator[tuple[str, Tensor]]:
    modules: Iterable[tuple[str, Any]] = ((prefix, tree),)
    if recurse:
        modules = tree.named_modules(prefix=prefix, remove_duplicate=once)
    held = (
        (join(module_name, name), value)
        for module_name, module in modules
        for name, value in module.__dict__[registry].items()
        if value is not None
    )
    return each_once(held) if once else held


def _get(tree: Tree, registry: str, target: str, kind: str) -> Tensor:
    path, _, name = target.rpartition(".")
    module = tree.get_submodule(path)
    if not hasattr(module, name):
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    found: Tensor | None = module.__dict__[registry].get(name)
    if found is None:
        raise AttributeError(f"`{name}` is not {'an' if kind[0] == 'n' else 'a'} {kind}")
    return found
