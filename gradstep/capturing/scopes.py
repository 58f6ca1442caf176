"""The modules, and the named parts of the program, in which ops run."""

from __future__ import annotations

from types import FrameType
from typing import Any

from gradstep.capturing.frames import MOST, outermost_of
from gradstep.contract.module_paths import (
    OUTSIDE,
    ModuleCall,
    ModulePaths,
    ModulesRun,
    ScopePath,
    joined,
)


class Scopes:
    """The scope that runs ``now``, None outside any; it makes those inside."""

    def __init__(self) -> None:
        self.now: Scope | None = None
        self.run = ModulesRun()
        self._paths: dict[int, ModulePaths] = {}  # by identity of the outermost module

    def named(self, name: str) -> Scope:
        """Return a scope called ``name``."""
        return Scope(self, name, None, None if self.now is None else self.now.outermost)

    def of(self, module: Any, frame: FrameType) -> Scope:
        """Return the scope of ``module``, which ``frame`` calls, by its name in the outermost
        one."""
        outermost = None if self.now is None else self.now.outermost
        if outermost is None:
            self.run.note(module)
            outermost = outermost_of(module, frame)
            if (paths := self._paths.get(id(outermost))) is not None:
                paths.searched = False
        return Scope(self, "", module, outermost)

    def paths(self, outermost: Any) -> ModulePaths:
        """Return the paths of the modules in ``outermost``."""
        paths = self._paths.get(id(outermost))
        if paths is None or not paths.are_of(outermost):
            if len(self._paths) > MOST:
                self._paths.clear()
            paths = self._paths[id(outermost)] = ModulePaths(outermost)
        return paths


class Scope:
    """A scope, as a context manager: a generator would take 2 us more for each module.

    Its path is found out when it is asked for, which takes longer than all else.
    """

    __slots__ = ("_around", "_module", "_name", "_place", "_scopes", "outermost")

    def __init__(self, scopes: Scopes, name: str, module: Any, outermost: Any) -> None:
        self._scopes, self._name, self._module, self.outermost = scopes, name, module, outermost
        self._around = scopes.now
        self._place: ScopePath | None = None

    def __enter__(self) -> None:
        self._scopes.now = self

    def __exit__(self, *error: object) -> None:
        self._scopes.now = self._around

    @property
    def place(self) -> ScopePath:
        """The names of the scopes from the outermost one to this."""
        if self._place is None:
            outside = OUTSIDE if self._around is None else self._around.place
            if self._module is not None:
                paths = self._scopes.paths(self.outermost)
                path = joined(outside.path, self._of_module(paths))
                call = ModuleCall(path, outside.call)
                self._place = ScopePath(outside.around, paths, path, call)
            elif outside.paths is not None:
                self._place = outside._replace(path=joined(outside.path, self._name))
            else:
                self._place = ScopePath(joined(outside.around, self._name))
        return self._place

    def _of_module(self, paths: ModulePaths) -> str:
        """Return the name of the module; where it runs inside another, from there on."""
        path = paths.of(self._module) or ""
        around = self._around
        while around is not None and around._module is None:
            around = around._around
        if around is None:
            return path
        known = paths.of(around._module)
        return (path or type(self._module).__name__).removeprefix(f"{known}." if known else "")
