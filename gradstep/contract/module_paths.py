"""The paths of modules within the outermost one, those in plain lists included."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from typing import Any, Final, NamedTuple
from weakref import ref

from gradstep.contract.insides import insides_of
from gradstep.contract.parameters import named_parameters
from gradstep.guest.fence import class_has, read, text_of, variables_in

MOST_ELEMENTS: Final = 1000
"""Of a list; longer ones hold data."""

_Step = tuple[str, Any]
"""From a module to one below it: the attribute that has a plain list or dictionary, and the place
there; or "" and its own name for it."""


def is_module(value: Any) -> bool:
    """Return whether ``value`` is a module; its class is asked, as the ``__getattr__`` of an object
    of the program's may do anything."""
    # what torch.export makes has parameters, but no modules
    return class_has(value, "named_parameters", "named_modules")


def named_modules(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield a module and all that it knows as parts of it, by their paths; nothing of one that is
    half built."""
    return read(lambda: module.named_modules())


def is_of_library(module: Any) -> bool:
    """Return whether ``module`` is one that keeps nothing of its own in a plain list."""
    return type(module).__module__.startswith(("autograd_core.nn.", "torch.nn."))


def listed_modules(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the modules in a plain list or dictionary, each with its place there: a module that has
    such an attribute knows nothing of them."""
    if type(value) in (list, tuple, dict) and len(value) <= MOST_ELEMENTS:
        pairs = value.items() if type(value) is dict else enumerate(value)
        yield from [(key, value) for key, value in pairs if is_module(value)]


class ModulesRun:
    """The outermost modules that a forward pass has run, by identity.

    >>> from autograd_core import nn
    >>> run, layer = ModulesRun(), nn.ReLU()
    >>> run.note(layer)
    >>> layer in run, nn.ReLU() in run
    (True, False)
    """

    def __init__(self) -> None:
        self._modules: dict[int, ref[Any]] = {}

    def note(self, module: Any) -> None:
        """Note that a module runs."""
        self._modules[id(module)] = ref(module)

    def clear(self) -> None:
        """Begin a new forward pass."""
        self._modules.clear()

    def __contains__(self, module: Any) -> bool:
        reference = self._modules.get(id(module))
        return reference is not None and reference() is module


class ModulePaths:
    """The path of each module in the outermost one: found once, and seen to be still true whenever
    it is asked for, which takes a tenth of the time.

    >>> from autograd_core import nn
    >>> class Net(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.first, self.others = nn.Tanh(), [nn.Sequential(nn.ReLU())]
    >>> net = Net()
    >>> paths = ModulePaths(net)
    >>> paths.of(net.first), paths.of(net.others[0][0]), paths.of(net), paths.of(nn.ReLU())
    ('first', 'others[0].0', '', None)

    Attributes:
        searched: whether modules were looked for in this call of the outermost one.
        parameters: the parameters and their paths, by identity: they may outlive their modules.
    """

    def __init__(self, outermost: Any) -> None:
        self._outermost = ref(outermost)
        self._of: dict[int, tuple[str, tuple[_Step, ...]]] = {}
        self.searched = False
        self.parameters: dict[int, tuple[ref[Any], str]] = {}

    @property
    def outermost(self) -> Any:
        """The module whose parts these are, None of one that is no more."""
        return self._outermost()

    def are_of(self, outermost: Any) -> bool:
        """Return whether these are the paths in ``outermost``."""
        return self._outermost() is outermost

    def of(self, module: Any) -> str | None:
        """Return the path of a module, None of one that is no part of the outermost one."""
        known = self._of.get(id(module))
        if known is None or not self._leads_to(known[1], module):
            if self.searched:
                return None
            self.searched, self._of = True, {}
            self._search("", self._outermost(), ())
            known = self._of.get(id(module))
        return None if known is None else known[0]

    def _leads_to(self, steps: tuple[_Step, ...], module: Any) -> bool:
        at: Any = self._outermost()
        try:
            for attribute, name in steps:
                if attribute:
                    at = variables_in(at)[attribute][name]
                else:
                    at = insides_of(at).part(at, name)
        except (AttributeError, LookupError, TypeError):
            return False
        return at is module

    def _search(self, path: str, module: Any, steps: tuple[_Step, ...]) -> None:
        for name, tensor in named_parameters(module):
            self.parameters.setdefault(id(tensor), (ref(tensor), joined(path, name)))
        parts = []
        for name, part in named_modules(module):
            if id(part) not in self._of:
                here = f"{path}.{name}" if path and name else path or name
                way = (*steps, *[("", word) for word in name.split(".") if word])
                self._of[id(part)] = here, way
                parts.append((here, part, way))
        for here, part, way in parts:
            if is_of_library(part):
                continue
            for attribute, value in list(islice(variables_in(part).items(), MOST_ELEMENTS)):
                if not isinstance(attribute, str) or attribute.startswith("_"):
                    continue
                for key, inside in listed_modules(value):
                    there = f"{here}.{attribute}" if here else attribute
                    self._search(f"{there}[{text_of(key)}]", inside, (*way, (attribute, key)))


_NUMBERS: Final = count()


class ModuleCall:
    """One call of the module at ``path``, and the call that it was made in, None in none; later
    ones have higher numbers."""

    __slots__ = ("number", "outer", "path")

    def __init__(self, path: str, outer: ModuleCall | None) -> None:
        self.number, self.path, self.outer = next(_NUMBERS), path, outer


class ScopePath(NamedTuple):
    """Where an op ran: in the module at ``path`` of the outermost one, whose ``paths`` these are,
    None outside any; in the named parts of the program ``around`` that; and in which ``call``."""

    around: str = ""
    paths: ModulePaths | None = None
    path: str = ""
    call: ModuleCall | None = None


OUTSIDE: Final = ScopePath()


def joined(*names: str) -> str:
    """Join paths, any of which may be empty.

    >>> joined("net", "", "fc1.weight")
    'net.fc1.weight'
    """
    return ".".join(filter(None, names))
