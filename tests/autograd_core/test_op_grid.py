"""Every operator over a grid of odd arguments: what PyTorch answers, but for a list of reasons.

All of it, in some minutes::

    python -m pytest -q -m "torch and slow" tests/autograd_core/test_op_grid.py
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import autograd_core
from autograd_core.op import OPS
from tests.autograd_core.finite_differences import can_be_differentiated, wrong_derivatives
from tests.autograd_core.known_differences import DECIDED, KNOWN
from tests.autograd_core.op_grid import (
    ALL,
    EVERY,
    KINDS,
    answer,
    compared,
    differences,
    forms,
    graphs,
    saved,
    variants,
)
from tests.autograd_core.op_samples import samples_of
from tests.autograd_core.operator_cases import Call, words

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

STEP = 71  # of the numbers of variants in the small sample: no grid of a call has this period
PARTS = [list(EVERY)[start::10] for start in range(10)]
KNOWN_OF = {
    path: [
        (reason, re.compile(label), re.compile(what))
        for reason, entries in KNOWN.items()
        for functions, label, what in entries
        if functions == "*" or path in functions.split()
    ]
    for path in ALL
}


def reasons(path: str, label: str, difference: str) -> list[str]:
    """Why the difference is there on purpose; none if it is not."""
    return [
        reason
        for reason, labels, what in KNOWN_OF[path]
        if labels.search(label) and what.search(difference)
    ]


def unexplained(path: str, chosen: Callable[[int, str], bool]) -> list[str]:
    return [
        f"{path} [{label}] {each}"
        for label, told in compared(torch, autograd_core, path, chosen)
        for each in told
        if not reasons(path, label, each)
    ]


# Of these the values and derivatives agree, and the graph is another composition of ops.
OTHER_GRAPH = words(
    "combinations cumulative_trapezoid einsum fft.hfft fft.hfft2 fft.hfftn fft.irfft "
    "fft.irfft2 fft.irfftn gradient nanquantile native_group_norm "
    "nn.functional.cosine_similarity "
    "nn.functional.cross_entropy "
    "nn.functional.pad nn.functional.pairwise_distance "
    "nn.functional.rms_norm "
    "nn.functional.scaled_dot_product_attention "
    "pairwise_distance quantile rms_norm "
    "special.ndtr special.round split_with_sizes_copy trapezoid trapz unbind_copy unsafe_chunk "
    "unsafe_split"
)
# What a rule here uses, and PyTorch's does not, by its name and the nodes that save it. Where a
# rule needs no more than the shape of an input, only that is saved here.
SAVED_HERE_ALONE = {
    "_saved_maps": "Upsample|AdaptiveAvgPool|Pad", "_saved_self_stride": "AsStrided",
    "_saved_result": "Erfinv|Sinc", "_saved_end": "NarrowCopy", "_saved_step": "NarrowCopy",
    "_saved_size": "FftC2R", "_saved_norm": "FftC2R", "_saved_mode": "GridSampler",
    "_saved_output_size": "AdaptiveMaxPool|MaxUnpool", "_saved_L": "Cholesky",
    "_saved_P": "LinalgLuFactor", "_saved_B": "LinalgSolve", "_saved_num_groups": "GroupNorm",
}  # fmt: skip
NOT_HERE = {"Tensor.histc", "Tensor.prelu", "Tensor.unique_consecutive", "Tensor.conj_physical_"}
# In place, PyTorch does not know some derivatives, and says of others that they are zero.
IN_PLACE = re.compile("inplace version of|undefined zero: True")


def apart(path: str, form: str, call: Call) -> list[str]:
    """In what a call differs from PyTorch's: results, derivatives, graph, saved values."""
    mine, theirs = answer(autograd_core, form, call, []), answer(torch, form, call, [])
    told = differences(mine, theirs)
    if form[-1] == "_" and any(IN_PLACE.search(each) for each in told):
        return []
    found = [each for each in told if not reasons(path, "plain", each)]
    if theirs.error or found:
        return found
    ours, others = graphs(autograd_core, mine), graphs(torch, theirs)
    if path not in OTHER_GRAPH and ours != others:
        found.append(f"graph: {ours} | {others}")
    (node, names), (other, known) = saved(autograd_core, mine), saved(torch, theirs)
    for name in names - known if node == other else ():
        if not name.endswith("_sym_sizes") and not re.search(
            SAVED_HERE_ALONE.get(name, "^$"), node
        ):
            found.append(f"{node} has {name}")
    return found


@pytest.mark.parametrize("start", range(10))
def test_every_call_and_method_and_in_place_form_is_that_of_pytorch(start: int) -> None:
    assert not [
        f"{form} {call} {each}"
        for path in list(ALL)[start::10]
        for given in ALL[path]
        for form, call in forms(torch, path, next(variants(torch, path, given))[1])
        if form not in NOT_HERE
        for each in apart(path, form, call)
    ]


def test_other_graphs_are_indeed_others() -> None:
    for path in OTHER_GRAPH:
        calls = [next(variants(torch, path, each))[1] for each in ALL[path]]
        found = [[graphs(t, answer(t, path, c, [])) for t in (autograd_core, torch)] for c in calls]
        assert any(mine != theirs for mine, theirs in found), f"{path} has PyTorch's graph"


@pytest.mark.sampled(5)
@pytest.mark.parametrize("paths", PARTS, ids=lambda paths: f"{paths[0]} and others")
def test_a_sample_of_odd_calls_is_answered_as_in_pytorch(paths: list[str]) -> None:
    assert not [
        each
        for number, path in enumerate(EVERY)
        if path in paths
        for each in unexplained(path, lambda nr, label: nr % STEP == number % STEP)  # noqa: B023
    ]


# Tried on every call: tensors that lie otherwise in memory, without dimensions or elements, and
# dimensions that there are or are not; for functions of networks also dtypes.
SHAPES = (
    r"strided|transposed|expanded|0-d.*|.* (beyond|before|negative|empty|none)|size \d+ is 0"
    r"|tensor \d+ (0-d|empty in \d|legacy empty)"
)
DTYPES = rf"(all|tensor \d+) ({'|'.join(KINDS)})"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("start", range(10))
def test_all_layouts_shapes_dimensions_and_dtypes_are_taken_as_by_pytorch(start: int) -> None:
    for path in list(EVERY)[start::10]:
        labels = re.compile(f"{SHAPES}|{DTYPES}" if path.startswith("nn.") else SHAPES)
        assert not unexplained(path, lambda nr, label: bool(labels.fullmatch(label)))  # noqa: B023


@pytest.mark.slow
@pytest.mark.parametrize("path", EVERY)
def test_every_odd_call_is_answered_as_in_pytorch(path: str) -> None:
    assert not unexplained(path, lambda nr, label: True)


DECIDED_PATHS = sorted(
    {path for reason in DECIDED for paths, _, _ in KNOWN[reason] for path in paths.split()}
)


# The gradient of `ctc_loss` is right behind a log_softmax only, in both libraries.
@pytest.mark.sampled(10)
@pytest.mark.parametrize("path", [path for path in DECIDED_PATHS if "ctc" not in path])
def test_where_pytorch_is_said_to_be_wrong_finite_differences_decide(path: str) -> None:
    """On the plain call, and on every variant that differs for no other reason than that the
    gradient of PyTorch is wrong."""
    looked_at, wrong = 0, []
    for call in EVERY[path]:
        for label, variant in variants(torch, path, call):
            if not can_be_differentiated(variant) or label.startswith("out "):
                continue
            if label != "plain" and not _is_decided(path, label, variant):
                continue
            some, found = wrong_derivatives(autograd_core, path, variant)
            looked_at += some
            wrong += [f"{path} [{label}] {each}" for each in found]
    assert not wrong
    assert looked_at


def _is_decided(path: str, label: str, variant: Any) -> bool:
    found = differences(*(answer(t, path, variant, []) for t in (autograd_core, torch)))
    why = [set(reasons(path, label, each)) for each in found]
    return any(each and each <= set(DECIDED[1:]) for each in why)


def test_the_list_of_differences_names_functions_of_the_grid() -> None:
    named = {
        function
        for entries in KNOWN.values()
        for functions, _, _ in entries
        if functions != "*"
        for function in functions.split()
    }
    assert named <= set(EVERY)


def test_a_difference_that_no_reason_explains_is_told() -> None:
    assert reasons("add", "plain", "result 0 values: [1.0] | [2.0]") == []


# Ops that no call of a user leads to by itself: parts of the gradients of others.
INNER = {
    "select_backward", "slice_backward", "diagonal_backward", "unfold_backward",
    "as_strided_backward", "embedding_backward", "nll_loss_backward", "nll_loss2d_backward",
    "max_pool_backward", "avg_pool_backward", "weight_norm",
    "unsafe_split",  # of a step of recurrent networks
}  # fmt: skip


def test_the_grid_reaches_the_public_ops_of_the_table() -> None:
    """By the names of the nodes that its calls make."""
    made: set[str] = set()
    for path in ALL:
        for given in ALL[path]:
            found = answer(autograd_core, path, next(variants(torch, path, given))[1], [])
            made |= {graph[0] for graph, _ in graphs(autograd_core, found) if graph}
    missing = {
        entry.node_name
        for name, entry in OPS.items()
        if entry.edges and samples_of(entry) and name == entry.public_name and name not in INNER
        and (hasattr(torch, name) or hasattr(torch.nn.functional, name))
    } - made  # fmt: skip
    assert not missing, sorted(missing)
