"""Names of tensors, found in the variables of their program."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import CO_OPTIMIZED
from itertools import chain, count, islice
from traceback import walk_tb
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType, TracebackType
from typing import Any, Final

from gradstep.contract.lookup import is_tensor, unseen
from gradstep.contract.loops import loop_variables
from gradstep.contract.module_details import module_details
from gradstep.contract.module_paths import (
    MOST_ELEMENTS,
    OUTSIDE,
    ModulePaths,
    ScopePath,
    is_module,
    is_of_library,
    joined,
    listed_modules,
    named_modules,
)
from gradstep.contract.parameters import has_data, named_parameters, whole_parameters
from gradstep.graph.model import Owner
from gradstep.guest.fence import attribute_of, class_has, read, text_of, variables_in
from gradstep.guest.own_files import is_of_library as is_installed
from gradstep.guest.own_files import is_user_file


class Names:
    """Names of tensors, by identity. Parameters of modules take precedence over variables, these
    over elements of lists and dictionaries, and all of these over variables of loops that run; the
    first name wins. ``modules`` and
    ``optimizers``, and ``scalers`` of losses, are those among the variables, by name; parameters
    ``in_plain_lists``, by identity, are of modules that the one around them does not know;
    ``own`` are the names that are not of variables ``of_libraries`` alone, and ``is_of_library``
    says that the whole program was installed.

    >>> from gradstep.capturing import Names
    >>> import autograd_core as torch
    >>> a = torch.ones(1)
    >>> Names({"both": [a], "a": a, "b": a}).of(a)
    'a'
    """

    def __init__(
        self,
        *namespaces: Mapping[str, Any],
        loops: Mapping[str, Any] | None = None,
        of_libraries: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.own: set[str] = set()
        self.is_of_library = False
        self._names: dict[int, str] = {}
        self._alive: list[Any] = []  # an id is only good while its tensor lives
        self._of_results: dict[int, str] | None = None
        self._constants: set[str] | None = None
        self._placeholders: dict[str, str] = {}
        own_variables, others = _variables_in(namespaces), _variables_in(of_libraries)
        kept, kept_by_others = [
            [held for name, value in among for held in _kept_by(name, value)]
            for among in (own_variables, others)
        ]
        own = {id(value) for _, value in own_variables + kept}
        variables = own_variables + others + kept + kept_by_others
        variables.sort(key=lambda variable: variable[0].startswith("_"))  # such as IPython's _
        self.modules: dict[str, Any] = _by_name(variables, is_module, id)
        self.optimizers: dict[str, Any] = _by_name(
            variables, _is_optimizer, lambda optimizer: id(attribute_of(optimizer, "param_groups"))
        )
        self.scalers: dict[str, Any] = _by_name(variables, _is_scaler, id)
        self.memory_owners: dict[int, Owner] = {}  # of a call that is told of later
        listed = _listed_parts(self.modules)
        self._fronts = _fronts(self.modules, listed)
        self._roots = [name for name, front in self._fronts.items() if name == front]
        self._module_paths: dict[int, str] = {}
        self._scopes = {OUTSIDE: ""}
        self.in_plain_lists = {
            id(parameter)
            for name in listed
            for _, parameter in named_parameters(self.modules[name])
        }

        running = list((loops or {}).items())
        for find, among in (
            (_parameters, variables), (_itself, variables), (_elements, variables),
            (_itself, running),
        ):  # fmt: skip
            for name, value in among:
                front = self._fronts.get(name, "") if find is _parameters else ""
                for path, tensor in find(name, value):
                    path = joined(front, path)
                    if id(tensor) not in self._names:
                        self._names[id(tensor)] = path
                        self._alive.append(tensor)
                        if id(value) in own:
                            self.own.add(path)

    def settle(self) -> None:
        """Keep no tensors alive: names are asked for only of those that were there by now, and of
        nodes that somebody keeps."""
        self._of_results, self._constants = self.of_results(), self.constants()
        self._alive.clear()

    def keep_leaves(self) -> None:
        """Keep no tensor alive that came out of an op: the program may be waiting for its end."""
        tensors = self.tensors()
        with unseen():
            self._alive = [tensor for tensor in tensors if tensor.is_leaf]

    def add_missing(self, others: Names) -> None:
        """Add the names and modules of ``others`` for tensors that have no name here."""
        for tensor in others.tensors():
            if id(tensor) not in self._names:
                self._names[id(tensor)] = others.of(tensor)
                self._alive.append(tensor)
        self.own |= others.own
        self.modules = {**others.modules, **self.modules}
        self._fronts = {**others._fronts, **self._fronts}
        self.optimizers = {**others.optimizers, **self.optimizers}
        self.scalers = {**others.scalers, **self.scalers}

    def add_parts(self, paths: ModulePaths) -> None:
        """Add the names within an outermost module of parameters that have none: nothing that the
        program has a name for has that module."""
        taken = set(self._names.values())
        for identity, (known, path) in paths.parameters.items():
            tensor = known()
            if tensor is not None and identity not in self._names and path not in taken:
                self._names[identity] = path
                self._alive.append(tensor)

    def add_loss(self, tensor: Any) -> None:
        """Call a tensor "loss" that has no name, unless another one is called so; a GradientEdge,
        which is no tensor, is called nothing."""
        if (
            hasattr(tensor, "is_leaf")
            and not self.of(tensor)
            and "loss" not in self._names.values()
        ):
            self._names[id(tensor)] = "loss"
            self._alive.append(tensor)

    def of(self, tensor: Any) -> str:
        """Return the name of ``tensor``, which may be the program's tensor or the one that capture
        sees; "" if it has none."""
        stands_for = hasattr(type(tensor), "gradstep_identity")
        return self.of_identity(tensor.gradstep_identity if stands_for else id(tensor))

    def of_identity(self, identity: int) -> str:
        """Return the name of the tensor with this identity; "" if it has none."""
        return self._names.get(identity, "")

    def of_results(self) -> dict[int, str]:
        """Return the names of what ops made, but for elements of lists, by the identity of the
        ``grad_fn``; of several results, the names of all."""
        if self._of_results is not None:
            return self._of_results
        results: dict[int, str] = {}
        for name, maker in self._makers():
            if maker is not None and "[" not in name:
                key = id(maker)
                results[key] = f"{results[key]}, {name}" if key in results else name
        return results

    def constants(self) -> set[str]:
        """Return the names of what no op made."""
        if self._constants is not None:
            return self._constants
        return {name for name, maker in self._makers() if maker is None}

    def _makers(self) -> list[tuple[str, Any]]:
        """Return the names of the tensors that are alive, each with its ``grad_fn``."""
        with unseen():
            return [(self.of(tensor), _maker_of(tensor)) for tensor in self._alive]

    def usual(self, name: str) -> str:
        """Return what a parameter is called that goes by ``name`` in its module, with the name of
        that in front or without, as ``model.fc1.weight``; "" where none does."""
        for variable, module in self.modules.items():
            for path, tensor in named_parameters(module):
                if name in (path, f"{variable}.{path}"):
                    return self.of(tensor)
        return ""

    def trained(self) -> Iterator[tuple[str, Any, dict[int, Any]]]:
        """Yield the parameter groups of all optimizers: the name of the optimizer, the group, and
        the leaves that it changes, by the identities of those that ops use in their place."""
        whole: dict[int, Any] = {}
        for module in self.modules.values():
            whole.update(whole_parameters(module))
        for name, optimizer in self.optimizers.items():
            for group in attribute_of(optimizer, "param_groups") or ():
                leaves = [leaf for leaf in group.get("params", ()) if has_data(leaf)]
                used = {id(whole.get(id(leaf), leaf)): leaf for leaf in leaves}
                yield name, {**group, "params": leaves}, used

    def placeholder(self, parameter: str) -> str:
        """Name an input without a name of its own in the text of a rule: as the op calls its
        ``parameter``, but never as the program calls another tensor.

        >>> from gradstep.capturing import Names
        >>> import autograd_core as torch
        >>> names = Names({"x": torch.ones(1), "weight": torch.ones(2)})
        >>> [names.placeholder(name) for name in ("x", "weight", "other")]
        ['input', 'weight2', 'other']
        """
        placeholder = self._placeholders.get(parameter)
        if placeholder is None:
            used = frozenset(self._names.values())
            free = (name for name in (parameter, _INSTEAD.get(parameter, "")) if name)
            counted = (f"{parameter}{number}" for number in count(2))
            placeholder = next(name for name in chain(free, counted) if name not in used)
            self._placeholders[parameter] = placeholder
        return placeholder

    def scopes_of(self, records: Iterable[Any]) -> list[str]:
        """Return the scope of each of many records, "" of one that is None."""
        known, scope = self._scopes, self.scope
        return [
            "" if one is None else known[one.scope] if one.scope in known else scope(one.scope)
            for one in records
        ]

    def scope(self, place: ScopePath) -> str:
        """Return what a place in the modules is called."""
        scope = self._scopes.get(place)
        if scope is None:
            if not self._module_paths:
                self._module_paths = {id(part): path for path, part in self._paths()}
            outermost = None if place.paths is None else place.paths.outermost
            front = self._module_paths.get(id(outermost), "")
            if [front] == self._roots:  # all there is
                front = ""
            scope = self._scopes[place] = joined(place.around, front, place.path)
        return scope

    def module_classes(self) -> dict[str, str]:
        """Return the class of every module among the variables, by its path."""
        return {path: type(part).__name__ for path, part in self._paths()}

    def module_details(self) -> dict[str, str]:
        """Return what matters of the attributes of these modules, of those that have such."""
        return {path: text for path, part in self._paths() if (text := module_details(part))}

    def _paths(self) -> Iterator[tuple[str, Any]]:
        """Yield the modules among the variables that have a path, each once, and each path once."""
        seen: set[int] = set()
        paths = {""}
        for name, module in self.modules.items():
            for path, part in named_modules(module):
                path = joined(self._fronts[name], path)
                if id(part) not in seen and path not in paths:
                    seen.add(id(part))
                    paths.add(path)
                    yield path, part

    def tensors(self) -> Iterator[Any]:
        """Return all tensors with a name, in the order in which they were found."""
        with unseen():
            return iter(list(filter(_has_place, self._alive)))

    def idle(self, has_run: Callable[[Any], bool]) -> set[int] | None:
        """Return the parameters, by identity, of which no module that has them has run in this
        forward pass, though others have; None where that was not noted."""
        idle: set[int] = set()
        active: set[int] = set()
        noted = False
        for module in self.modules.values():
            for _, part in named_modules(module):
                here = {id(parameter) for _, parameter in named_parameters(part)}
                if has_run(part):
                    noted = True
                    active |= here
                idle |= here
        return idle - active if noted else None

    def has_elements(self, name: str) -> bool:
        """Return whether tensors are elements of what is called ``name``."""
        return any(known.startswith(f"{name}[") for known in self._names.values())


def _maker_of(tensor: Any) -> Any:
    """Return the ``grad_fn`` of a tensor, None where its library has none, or it tells so no
    more."""
    try:
        return getattr(tensor, "grad_fn", None)
    except RuntimeError:
        return None


def _has_place(tensor: Any) -> bool:
    """Return whether a tensor tells where it stands in a graph: one of several views of PyTorch's
    does so no more when its base has been changed."""
    try:
        return isinstance(tensor.is_leaf, bool)
    except RuntimeError:
        return False


_BARE: Final = frozenset([
    bool, int, float, complex, str, bytes, range, type(None), type, ModuleType, FunctionType,
    BuiltinFunctionType,
])  # fmt: skip
"""Kinds of variables that hold no tensor: nearly all of a program's."""
_CONTAINERS: Final = frozenset([dict, OrderedDict, set])
"""Kinds of attributes of which only those without an underscore are looked into."""

_INSTEAD = {"x": "input", "self": "input"}
"""PyTorch's names for what our ops call so."""

Named = Iterable[tuple[str, Any]]


def _itself(name: str, value: Any) -> Named:
    return [(name, value)] if is_tensor(value) else []


def _parameters(name: str, value: Any) -> Named:
    """Return the parameters of a module, by their own names."""
    return named_parameters(value) if is_module(value) else []


def _listed_parts(modules: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return, by their names, the modules that another one keeps in a plain list: the name of that
    one, and the path there."""
    keepers = {}
    for name in [name for name in modules if name.endswith("]")]:
        parts = name.split(".")
        for at in range(1, len(parts)):
            if (keeper := ".".join(parts[:at])) in modules:
                keepers[name] = keeper, ".".join(parts[at:])
                break
    return keepers


def _fronts(modules: Mapping[str, Any], listed: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return what stands before the paths in each module: its variable, where several modules have
    parameters and are no part of each other, or the only one is a single layer."""
    for name, module in modules.items() if len(modules) == 1 else ():  # as nearly always
        if not name.endswith("]") and any(path for path, _ in named_modules(module)):
            return {name: ""}
    around = dict(listed)  # of what is a part, the module that has it, and its place there
    places: dict[int, tuple[str, str]] = {}
    if len(modules) > 1:
        for name, module in modules.items():
            for path, part in named_modules(module):
                if path:
                    places.setdefault(id(part), (name, path))
    for name, module in modules.items():
        if id(module) in places:
            around.setdefault(name, places[id(module)])

    def whole(name: str) -> tuple[str, str]:
        path, seen = "", {name}
        while name in around and around[name][0] not in seen:
            name, place = around[name]
            path = joined(place, path)
            seen.add(name)
        return name, path

    ways = {name: whole(name) for name in modules}
    trained = {ways[name][0] for name, module in modules.items() if _has(named_parameters(module))}
    with_parts = {root for root, path in ways.values() if path} | {
        ways[name][0]
        for name, module in modules.items()
        if any(path for path, _ in named_modules(module))
    }
    several = len(trained or with_parts) > 1 or bool(trained - with_parts)

    def front(name: str) -> str:
        root, path = ways[name]
        if root not in trained and root not in with_parts:
            return ""  # a function, such as a loss
        return joined(root if several or root.endswith("]") else "", path)

    return {name: front(name) for name in modules}


def _has(named: Iterable[Any]) -> bool:
    return any(True for _ in named)


# Classes are asked, not the objects of a program, whose __getattr__ may do anything.


def _is_optimizer(value: Any) -> bool:
    return (
        class_has(value, "zero_grad", "step") and type(attribute_of(value, "param_groups")) is list
    )


def _is_scaler(value: Any) -> bool:
    return class_has(value, "scale", "unscale_", "get_scale", "update")


def _variables_in(namespaces: Iterable[Mapping[str, Any]]) -> list[tuple[str, Any]]:
    """Return the variables that may hold a tensor; a module that is ``self`` in a method comes
    last, as ``self`` is another one in the next method."""
    variables = [
        (name, value)
        for namespace in namespaces
        for name, value in list(namespace.items())
        if isinstance(name, str) and not name.startswith("__") and type(value) not in _BARE
    ]
    return sorted(variables, key=lambda each: each[0] == "self" and is_module(each[1]))


def _kept_by(name: str, value: Any) -> Named:
    """Yield what an object of the program keeps, as a trainer does: ``self.model``; of a module,
    what it does not know as a part of its own; of a list, the modules in it."""
    yield from _listed(name, value)
    # isinstance() would ask the object for its class, which one that stands for another looks up
    if issubclass(type(value), type | ModuleType | FunctionType) or is_tensor(value):
        return
    parts = [("", value)]
    if whole := is_module(value):
        inner = named_modules(value)
        parts += [part for part in inner if part[0] and not is_of_library(part[1])]
    for path, part in parts:
        for attribute, element in list(islice(variables_in(part).items(), MOST_ELEMENTS)):
            if type(element) in _BARE or not isinstance(attribute, str):
                continue
            if type(element) in _CONTAINERS and attribute.startswith("_"):
                continue
            called = f"{name}.{path}.{attribute}" if path else f"{name}.{attribute}"
            if (
                _is_optimizer(element)
                or _is_scaler(element)
                or is_tensor(element)
                or (not whole and is_module(element))
            ):
                yield called, element
                if not whole and is_module(element):  # as an agent has a policy, that its optimizer
                    yield from _kept_by(called, element)
            elif not attribute.startswith("_"):
                yield from _listed(called, element)


def _listed(name: str, value: Any) -> Named:
    return [(f"{name}[{text_of(key)}]", module) for key, module in listed_modules(value)]


def _by_name(
    variables: Named, chosen: Callable[[Any], bool], identity: Callable[[Any], int]
) -> dict[str, Any]:
    """Return what is ``chosen``, each once, under its first name."""
    values: dict[str, Any] = {}
    seen: set[int] = set()
    for name, value in variables:
        if name not in values and chosen(value) and identity(value) not in seen:
            seen.add(identity(value))
            values[name] = value
    return values


def _elements(name: str, value: Any) -> Named:
    pairs: Iterable[tuple[Any, Any]]
    kind = type(value)
    if issubclass(kind, list | tuple):
        pairs = read(lambda: enumerate(value[:MOST_ELEMENTS]))
    elif issubclass(kind, dict) and dict.__len__(value) <= MOST_ELEMENTS:
        pairs = read(lambda: list(value.items()))
    else:
        return []
    return [(f"{name}[{text_of(key)}]", tensor) for key, tensor in pairs if is_tensor(tensor)]


def caller_names(others: Mapping[str, Any] | None = None) -> Names:
    """Return the names in the calling program: local ones, global ones, those of the functions
    that called these, then ``others``. Where a library calls, such as a trainer's, the program's
    own functions come before the library's."""
    stack: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        stack.append(frame)
        code, variables = frame.f_code, frame.f_globals
        is_main = code.co_name == "<module>" and variables.get("__name__") == "__main__"
        # what runs a program is no part of it; what it runs by exec() has its name, and no file
        frame = None if is_main and is_user_file(_file(frame)) else frame.f_back
    calling = _frames_of_program(stack)
    names = _names_in(calling, others or {})
    if sys.version_info < (3, 13):
        for caller in calling:
            _forget_copy(caller)
    return names


def names_in_traceback(traceback: TracebackType | None) -> Names:
    """Return the names in the program where it raised, as :func:`caller_names` does."""
    stack = [frame for frame, _ in walk_tb(traceback)]
    return _names_in(_frames_of_program(stack[::-1]), {})


def _names_in(frames: Sequence[FrameType], others: Mapping[str, Any]) -> Names:
    # what a loop came to last has nothing to do with its name any more when that is over
    loops: dict[str, Any] = {}
    held: dict[int, Mapping[str, Any]] = {}  # of functions by their frame, of modules by theirs
    for frame in frames:
        ran, runs = loop_variables(frame)
        variables = frame.f_locals
        loops = {name: variables[name] for name in runs if name in variables} | loops
        left_out = ran | runs
        held[_space(frame)] = (
            {name: value for name, value in variables.items() if name not in left_out}
            if left_out
            else variables
        )
    namespaces: dict[int, Mapping[str, Any]] = {}
    of_libraries: set[int] = set()
    has_own = any(not is_installed(_file(frame)) for frame in frames)
    for at, frame in enumerate(frames):
        if has_own and is_installed(_file(frame)):
            of_libraries.add(_space(frame))
        namespaces.setdefault(_space(frame), held[_space(frame)])
        # the variables of a library's modules are none of the program's
        if at == 0 or not is_installed(_file(frame)):
            around = id(frame.f_globals)
            namespaces.setdefault(around, held.get(around, frame.f_globals))
    own = [namespace for space, namespace in namespaces.items() if space not in of_libraries]
    libraries = [namespaces[space] for space in namespaces if space in of_libraries]
    names = Names(*own, others, loops=loops, of_libraries=libraries)
    names.is_of_library = not has_own
    return names


def _forget_copy(frame: FrameType) -> None:
    """Empty the copy of its variables that a function keeps, before Python 3.13, for as long as it
    runs, and with it every tensor that it had a name for; unless it asked for ``locals()``."""
    if frame.f_code.co_flags & CO_OPTIMIZED:
        copy = frame.f_locals
        if sys.getrefcount(copy) == 3:  # the frame's, ours, and that of the call
            copy.clear()


def _space(frame: FrameType) -> int:
    """Return what identifies the variables of a frame: those of a module are global ones."""
    return id(frame.f_globals if frame.f_locals is frame.f_globals else frame)


def _frames_of_program(stack: Sequence[FrameType]) -> list[FrameType]:
    """Return the frames of the user's own files, from the inside out as those of ``stack`` are,
    then those of libraries that these called; those of libraries alone where the user's program
    has none."""
    frames = [frame for frame in stack if is_user_file(_file(frame))]
    own = [at for at, frame in enumerate(frames) if not is_installed(_file(frame))]
    inside = frames[: own[-1] + 1] if own else frames
    return sorted(inside, key=lambda frame: is_installed(_file(frame)))


def _file(frame: FrameType) -> str:
    return frame.f_code.co_filename
