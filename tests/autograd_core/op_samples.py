"""What the op table is tested on: the calls of ops behind the calls of :mod:`.operator_cases` and
:mod:`.network_cases`, in both passes; and some samples of their own.

Most checks of a sample take less time than pytest takes to begin a test.  So one test checks the
samples of all ops of a file in ``autograd_core/ops``, and tells of all that fail.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import autograd_core
from autograd_core import ops
from autograd_core.autograd.grad_mode import USUAL, enter_mode, leave_mode
from autograd_core.op import OPS, Op
from autograd_core.ops.networks.resample import _taps
from tests.autograd_core.op_grid import ALL, answer, as_given
from tests.extras import missing_extras, reason_to_skip

for module in pkgutil.walk_packages(ops.__path__, f"{ops.__name__}."):
    importlib.import_module(module.name)


class Sample(NamedTuple):
    """Inputs that the tests try an op on: values as nested lists or shapes, then attributes.

    A tuple of ints stands for a random array of that shape, anything else for itself.
    ``symmetric``: the inputs are symmetric matrices, of which the op reads one half.
    ``normalized``: the rule is for an input behind a ``log_softmax``.
    """

    values: tuple[Any, ...]
    attributes: Mapping[str, Any] = {}
    symmetric: bool = False
    normalized: bool = False

    def fitted(self, array: Any) -> Any:
        """``array`` as an input of this kind."""
        if self.symmetric:
            return (array + array.swapaxes(-2, -1)) / 2
        if self.normalized:
            return array - np.log(np.sum(np.exp(array), axis=-1, keepdims=True))
        return array


# --- samples that no call leads to, or where numbers must be chosen -----------------------------

_ONE = (Sample(((3,),)), Sample(((2, 2),)), Sample(((),)))
_PAIR = (Sample(((2, 3), (2, 3))), Sample(((2, 3), (3,))), Sample(((), (2, 1))))
_MATRIX = [[1.0, 4.0, 2.5], [3.0, 0.5, -2.0]]
_POSITIVE = [[3.0, 0.5, 0.2], [0.5, 2.0, -0.4], [0.2, -0.4, 1.0]]
_BATCH = [_POSITIVE, [[1.0, 0.0, 0.1], [0.0, 2.0, 0.3], [0.1, 0.3, 4.0]]]
_SHARES = [[0.2, 0.7, 0.5], [0.9, 0.1, 0.4]]
_REDUCTIONS = [{"reduction": name} for name in ("mean", "sum", "none")]
_ROWS, _LABELS = np.array([2, 0, 2]), np.array([2, 0, 1, 0])
_MASK = np.array([[True, False, True], [False, True, True]])
_WINDOWS = {"kernel_size": (2, 2), "stride": (2, 2), "padding": (0, 0)}
_PLACES = np.array([[[[3, 0], [1, 2]]]], np.int16)
_INDICES = np.array([[[3, 0], [9, 6]]])
_TAPS = _taps([0, 0, 2], [1, 2, 0], [1.0, 0.5, 2.0], 4, 3)
_LOG_SHARES = np.log(np.random.default_rng(0).dirichlet(np.ones(4), (5, 2)))
_EXTREMES = (Sample((_MATRIX,)), Sample((_MATRIX,), {"dim": (0, 1), "keepdim": True}))

OWN: dict[str, Sequence[Sample]] = {
    # ties, borders and halves of matrices, where a step of finite differences must not lead
    "sign": [Sample(([-1.5, 2.0],))],
    "clamp": [Sample(([-2.0, 0.5, 3.0],), {"min": -1, "max": 1}),
              Sample(([-2.0, 1.0],), {"min": 0})],
    "nansum": [Sample((_MATRIX,)), Sample((_MATRIX,), {"dim": 1})],
    "nanmedian_all": [Sample((_MATRIX,))],
    "copy": _PAIR[:2],
    "xlog1py_tensor": [Sample(([0.5, 2.0], [1.5, 0.25])), Sample(([[0.5], [2.0]], [1.5, 0.25]))],
    "amax": _EXTREMES, "amin": _EXTREMES, "aminmax": [Sample((_MATRIX,))],
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin", "logaddexp"), _PAIR),
    "mode": [Sample(([[1.0, 4.0, 2.5]],), {"dim": 0})],
    "nextafter": [Sample(([1.5, -2.25, 7.0], [0.5, 0.75, -2.0])),
                  Sample(([[1.5], [-7.25]], [2.0, 0.75]))],
    **dict.fromkeys(("i0e", "i1e"), (Sample(([-1.5, 0.3, 2.0],)), Sample(([[0.5], [1.25]],)))),
    "cholesky_ex": [Sample((_POSITIVE,), symmetric=True),
                    Sample((_BATCH,), {"upper": True}, symmetric=True)],
    "cholesky_old": [Sample((_POSITIVE,), symmetric=True)],
    "eigh": [Sample((_POSITIVE,), symmetric=True),
             Sample((_BATCH,), {"UPLO": "U"}, symmetric=True)],
    "pinv": [Sample(((3, 2),)), Sample(((2, 2, 3),)),
             Sample(((2, 2),), {"hermitian": True}, symmetric=True)],
    "qr": [Sample(((4, 3),)), Sample(((2, 2, 3),)),
           Sample(([[1.0, 2.0], [0.5, -1.0]],), {"mode": "complete"})],
    "ctc_loss": [Sample((_LOG_SHARES,), {
        "targets": np.array([[1, 2, 2], [3, 1, 0]]), "input_lengths": (5, 4),
        "target_lengths": (3, 2), "blank": 0}, normalized=True)],
    "binary_cross_entropy": [
        *(Sample((_SHARES, _SHARES[::-1]), each) for each in _REDUCTIONS),
        Sample((_SHARES, _SHARES[::-1], np.array([1.0, 2.0, 0.5]))),
    ],
    # inner ops, and views of which a call makes no node
    "alias": [Sample(((2, 3),))], "zero": [Sample(((2,),))],
    "mul_number": [Sample(((2, 3),), {"other": 2.5})],
    "cast": [Sample(((3,),), {"target": np.dtype("float64"), "source": np.dtype("float64")})],
    "squeeze_dims_copy": [Sample(((1, 2, 1),), {"dims": (0, 2)})],
    "unsafe_split": [Sample(((5, 2),), {"split_size": 2}),
                     Sample(((2, 4),), {"split_size": 2, "dim": 1})],
    "assigned": [Sample(((3, 2), (2,)), {"indices": (_ROWS[:2],)})],
    "index_put_added": [Sample(((3, 2), (2,)), {"indices": (_ROWS,)})],
    "index": [Sample(((4, 2),), {"indices": (_ROWS,)})],
    "place": [Sample(((4,), _MASK), {"shape": (2, 3)})],
    "put_flat": [Sample(((3,), np.array([4, 0, 4])), {"shape": (2, 3)})],
    "add_slices": [Sample(((3, 2), _ROWS), {"shape": (4, 2), "dim": 0})],
    "scatter_zeros": [Sample(((2, 3), np.array([[0, 2, 1], [1, 0, 0]])),
                             {"shape": (2, 3), "dim": 1})],
    "embedding": [Sample(((4, 2), np.array([[0, 2], [2, 1]])))],
    "embedding_backward": [
        Sample(((2, 2, 3), np.array([[0, 2], [2, 1]])), {"shape": (4, 3), "padding_idx": 2})],
    "embedding_rows": [Sample(((4, 2), np.array([[0, 2], [2, 1]])), {"padding_idx": 2})],
    "select_backward": [Sample(((2,),), {"shape": (3, 2), "dim": 0, "index": 1})],
    "unfold_backward": [Sample(((2, 3, 3),), {"shape": (2, 5), "dim": 1, "size": 3, "step": 1})],
    "as_strided_backward": [
        Sample(((2, 2),), {"shape": (2, 3), "size": (2, 2), "stride": (1, 1), "storage_offset": 0}),
        Sample(((2, 2),), {"shape": (2, 3), "size": (2, 2), "stride": (1, 3), "storage_offset": 1,
                           "self_stride": (1, 2)}),
        Sample(((2, 2),), {"shape": (2,), "size": (2, 2), "stride": (1, 2), "storage_offset": -1,
                           "self_stride": (2,)}),
    ],
    "as_strided_scatter": [
        Sample(((2, 3), (2, 2)), {"size": (2, 2), "stride": (1, 2)}),
        Sample(((2, 3), (2,)), {"size": (2,), "stride": (2,), "storage_offset": 1,
                                "self_stride": (1, 2)}),
    ],
    "nll_loss_backward": [
        Sample(((), _LABELS), {"shape": (4, 3), "reduction": "mean", "ignore_index": 1}),
        Sample(((4,), _LABELS), {"shape": (4, 3), "reduction": "none", "ignore_index": -100}),
    ],
    "nll_loss2d_backward": [Sample(((), np.array([[0, 1], [2, 2]])), {
        "shape": (2, 3, 2), "reduction": "mean", "ignore_index": 1})],
    "spectrum": [Sample(((4,),), {"shape": (3,), "size": (4,), "dim": (0,), "norm": "backward"})],
    "max_pool_backward": [Sample(((1, 1, 2, 2), _PLACES),
                                 {"shape": (1, 1, 4, 4), "dilation": (1, 1), **_WINDOWS})],
    "max_pool_gather": [Sample(((1, 1, 4, 4), _PLACES), {"dilation": (1, 1), **_WINDOWS})],
    "avg_pool_backward": [Sample(((1, 2, 2),), {
        "shape": (1, 4, 4), **_WINDOWS, "ceil_mode": False, "count_include_pad": True,
        "divisor_override": None})],
    "at_indices": [Sample(((1, 2, 2), _INDICES), {"shape": (1, 3, 4), "dims": 2})],
    "from_indices": [Sample(((1, 3, 4), _INDICES), {"dims": 2})],
    "weight_norm": [Sample(((3, 2), (3, 1)), {"dim": 0}),
                    Sample(((3, 2, 2), (1, 1, 2)), {"dim": 2})],
    "affine_grid_sums": [Sample(((2, 2, 3, 2),), {"size": (2, 1, 2, 3), "align_corners": False})],
    "resampled": [Sample(((2, 3),), {"maps": (_TAPS,)})],
}  # fmt: skip


# --- samples of calls -----------------------------------------------------------------------------


class _Noted:
    """A tracer that keeps what each op that makes a node is called with."""

    def __init__(self) -> None:
        self.samples: dict[str, list[Sample]] = {}

    def op(self, name: str, values: Any, attributes: Any, outputs: Any, node: Any) -> None:
        if not hasattr(node, "op"):
            return
        arrays = [np.array(x.array) if hasattr(x, "array") else x for x in values]
        while arrays[-1] is None:  # an input that was left out
            arrays.pop()
        self.samples.setdefault(node.op.name, []).append(Sample(tuple(arrays), dict(attributes)))

    def line(self) -> None:
        return None

    def module(self, module: Any) -> Any:
        return nullcontext()

    def _nothing(self, *_: Any) -> None:
        return None

    changing = cut = function = from_numpy = in_place = passed = _nothing
    settle = taken_out = through_view = _nothing


SOME = 5  # of an op: calls with other shapes or attributes
LARGE = 150  # elements


@cache
def _of_calls() -> dict[str, list[Sample]]:
    """The first calls of each op."""
    noted: Any = _Noted()
    token = enter_mode(replace(USUAL, tracer=noted))
    try:
        with warnings.catch_warnings(action="ignore"):
            for path, calls in ALL.items():
                for call in calls:
                    answer(autograd_core, path, as_given(call), [])
    finally:
        leave_mode(token)
    return {name: _chosen(samples) for name, samples in noted.samples.items()}


def _chosen(samples: list[Sample]) -> list[Sample]:
    found: dict[str, Sample] = {}
    for sample in samples:
        arrays = [x for x in sample.values if isinstance(x, np.ndarray)]
        if all(0 < x.size < LARGE and (np.abs(x) < 1000).all() for x in arrays):
            found.setdefault(f"{[x.shape for x in arrays]} {sample.attributes}", sample)
    return list(found.values())[:SOME]


def samples_of(entry: Op) -> Sequence[Sample]:
    """The samples of an op."""
    found = OWN.get(entry.name) or _of_calls().get(entry.name)
    if found or not entry.pointwise or not entry.edges or entry.attributes:
        return found or ()
    return {1: _ONE, 2: _PAIR}.get(len(entry.values), ())


Check = Callable[[Op, Sample], None]


def for_every_sample(of: Callable[[Op], bool] = lambda entry: True) -> Callable[[Check], Any]:
    """Make a check of one sample a test of all samples of the ops that ``of`` chooses."""
    missing = missing_extras(["scipy"])
    reason = reason_to_skip(missing)
    families: dict[str, list[Op]] = {}
    for entry in filter(of, OPS.values()):
        families.setdefault(entry.call.__module__.rpartition(".")[2], []).append(entry)

    def decorate(check: Check) -> Any:
        @pytest.mark.parametrize("family", families)
        def test(family: str) -> None:
            failures, by_scipy, count = [], 0, 0
            for entry in families[family]:
                for number, sample in enumerate(samples_of(entry)):
                    count += 1
                    try:
                        check(entry, sample)
                    except Exception as error:
                        if missing and isinstance(error, ImportError) and error.name == "scipy":
                            by_scipy += 1
                            continue
                        error.add_note(f"sample {entry.name}-{number}: {sample}")
                        failures.append(error)
            if failures:
                raise ExceptionGroup(f"{check.__name__} fails", failures)
            if by_scipy:
                pytest.skip(f"{by_scipy} of {count} samples: {reason}")

        test.__name__, test.__doc__, test.__module__ = (
            check.__name__, check.__doc__, check.__module__,
        )  # fmt: skip
        return test

    return decorate


def is_differentiable(entry: Op) -> bool:
    """Whether the op has rules."""
    return bool(entry.edges)
