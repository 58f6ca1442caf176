"""``import torch`` where PyTorch is not installed: gradstep's core, under that name."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class CoreAsPyTorch(MetaPathFinder, Loader):
    """Finds ``autograd_core.nn`` for ``torch.nn``, the very same module."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Say that we load ``torch`` and all that is in it."""
        if fullname.partition(".")[0] != "torch":
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Give the module of the core, which is loaded once."""
        module = importlib.import_module("autograd_core" + spec.name.removeprefix("torch"))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Leave it as it is, with its own name."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state
