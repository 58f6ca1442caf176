"""What the op table is tested on: the samples of each folder of ops stand in the file of its name.

An elementwise op of one or two inputs, which takes any numbers, needs none of its own.

Most checks of a sample take less time than pytest takes to begin a test.  So one test checks the
samples of all ops of a file in ``autograd_core/ops``, and tells of all that fail.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import pytest

from autograd_core import ops
from autograd_core.op import OPS, Op
from tests.autograd_core import op_samples
from tests.autograd_core.op_samples.pointwise import ONE, PAIR
from tests.autograd_core.op_samples.sample import Sample
from tests.extras import missing_extras, reason_to_skip

for module in pkgutil.walk_packages(ops.__path__, f"{ops.__name__}."):
    importlib.import_module(module.name)

_SAMPLES: dict[str, tuple[Sample, ...]] = {}
for module in pkgutil.iter_modules(op_samples.__path__):
    found = importlib.import_module(f"{op_samples.__name__}.{module.name}")
    _SAMPLES.update(getattr(found, "SAMPLES", {}))


def samples_of(entry: Op) -> tuple[Sample, ...]:
    """The samples of an op."""
    own = _SAMPLES.get(entry.name)
    if own is not None or not entry.pointwise or not entry.edges or entry.attributes:
        return own or ()
    return {1: ONE, 2: PAIR}.get(len(entry.values), ())


Check = Callable[[Op, Sample], None]


def for_every_sample(of: Callable[[Op], bool] = lambda entry: True) -> Callable[[Check], Any]:
    """Make a check of one sample a test of all samples of the ops that ``of`` chooses."""
    missing = missing_extras(["scipy"])
    reason = reason_to_skip(missing)
    families: dict[str, list[tuple[str, Op, Sample]]] = {}
    for name, entry in OPS.items():
        family = families.setdefault(entry.call.__module__.rpartition(".")[2], [])
        samples = samples_of(entry) if of(entry) else ()
        family += [(f"{name}-{number}", entry, sample) for number, sample in enumerate(samples)]

    def decorate(check: Check) -> Any:
        @pytest.mark.parametrize("family", [name for name, found in families.items() if found])
        def test(family: str) -> None:
            failures, by_scipy = [], 0
            for name, entry, sample in families[family]:
                try:
                    check(entry, sample)
                except Exception as error:
                    if missing and isinstance(error, ImportError) and error.name == "scipy":
                        by_scipy += 1
                        continue
                    error.add_note(f"sample {name}: {sample}")
                    failures.append(error)
            if failures:
                raise ExceptionGroup(f"{check.__name__} fails", failures)
            if by_scipy:
                pytest.skip(f"{by_scipy} of {len(families[family])} samples: {reason}")

        test.__name__, test.__doc__, test.__module__ = (
            check.__name__, check.__doc__, check.__module__,
        )  # fmt: skip
        return test

    return decorate


def is_differentiable(entry: Op) -> bool:
    """Whether the op has rules."""
    return bool(entry.edges)
