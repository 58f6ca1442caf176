"""Batch and instance norm: whether statistics run, who checks them, what old states lack."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_core as core
from tests.autograd_core.outcomes import Error, each, expect, outcome

ROWS = [[1.0, 2.0], [3.0, 6.0]]
NORMALIZED = pytest.approx([-1.0, -1.0, 1.0, 1.0], abs=1e-4)


def norm(torch: Any, **options: Any) -> Any:
    return torch.nn.BatchNorm1d(2, **options)


def flat(t: Any) -> list[float]:
    return list(t.detach().flatten().tolist())


def state(module: Any) -> list[Any]:
    buffers = (module.running_mean, module.running_var, module.num_batches_tracked)
    return [None if each is None else each.tolist() for each in buffers]


# -- whether they run --------------------------------------------------------------------------


def no_longer(torch):
    module, x = norm(torch, momentum=0.5), torch.tensor(ROWS)
    module(x)
    before = state(module)
    module.track_running_stats = False
    normalized = flat(module(x * 100))
    return before == state(module), module.num_batches_tracked, normalized


def no_longer_and_asked_for(torch):
    module, x = norm(torch, momentum=0.5), torch.tensor(ROWS)
    module(x)
    module.track_running_stats = False
    return flat(module.eval()(x))


def taken_away(torch):
    module, x = norm(torch), torch.tensor(ROWS)
    module.track_running_stats, module.running_mean, module.running_var = False, None, None
    return flat(module(x)) + flat(module.eval()(x)), state(module)


def one_of_them_taken_away(torch):
    module = norm(torch)
    module.running_mean = None
    module(torch.tensor(ROWS))


def one_of_them_taken_away_and_asked_for(torch):
    module = norm(torch).eval()
    module.running_var = None
    module(torch.tensor(ROWS))


def the_counter_taken_away(torch):
    module = norm(torch, momentum=None)
    module.num_batches_tracked = None
    module(torch.tensor(ROWS))
    return state(module)


def the_mean_of_all(torch):
    module, x = norm(torch, momentum=None), torch.tensor(ROWS)
    module(x)
    module(x * 3)
    module.track_running_stats = False
    module(x * 100)
    return state(module)


def wanted_later(torch):
    module = norm(torch, track_running_stats=False)
    module.track_running_stats = True
    return flat(module(torch.tensor(ROWS))), state(module)


RUN = {
    no_longer: [True, 1, NORMALIZED],
    no_longer_and_asked_for: pytest.approx([0.0, 0.0, 1.6330, 1.8856], abs=1e-3),
    taken_away: [
        pytest.approx([-1.0, -1.0, 1.0, 1.0] * 2, abs=1e-4),
        [None, None, 0],
    ],
    one_of_them_taken_away: Error(
        "ValueError", "running_mean and running_var must either both be None or neither be None"
    ),
    one_of_them_taken_away_and_asked_for: Error(
        "RuntimeError", "running_var must be defined in evaluation mode"
    ),
    the_counter_taken_away: [[0.0, 0.0], [1.0, 1.0], None],
    the_mean_of_all: [[4.0, 8.0], [10.0, 40.0], 2],
    wanted_later: [NORMALIZED, [None, None, None]],
}


@each(RUN)
def test_statistics_run_as_long_as_they_are_tracked(
    torch: Any, program: Any, expected: Any
) -> None:
    expect(outcome(torch, program), expected)


# -- saved in a graph --------------------------------------------------------------------------


def changed_after_use(torch):
    module = norm(torch).eval()
    y = module(torch.tensor(ROWS, requires_grad=True))
    module.running_mean.add_(1)
    y.sum().backward()


CHANGED = {
    changed_after_use: Error(
        "RuntimeError",
        "one of the variables needed for gradient computation has been modified by an inplace",
    ),
}


@each(CHANGED)
def test_a_change_of_saved_statistics_is_noticed(torch: Any, program: Any, expected: Any) -> None:
    expect(outcome(torch, program), expected)


def test_a_batch_that_moves_them_leaves_earlier_graphs_alone() -> None:
    module = norm(core).eval()  # PyTorch takes the moved statistics for those of the graph
    y = module(core.tensor(ROWS))
    module.train()(core.tensor(ROWS) * 100)
    y.sum().backward()
    assert flat(module.weight.grad) == pytest.approx([4.0, 8.0], rel=1e-4)


# -- the modules -------------------------------------------------------------------------------


def without_a_shift(torch):
    module = norm(torch, bias=False)
    return module.bias, repr(module), list(module.state_dict())


def a_check_of_the_users(torch):
    class Any2d(torch.nn.modules.batchnorm._BatchNorm):
        def _check_input_dim(self, input):
            if input.dim() != 2:
                raise ValueError("two, please")

    return flat(Any2d(2)(torch.tensor(ROWS)))


def no_check(torch):
    torch.nn.modules.batchnorm._BatchNorm(2)(torch.tensor(ROWS))


def a_state_that_lost_the_counter(torch):
    module = norm(torch)
    lost = module.state_dict()
    del lost["num_batches_tracked"]
    module.load_state_dict(lost)


MODULES = {
    without_a_shift: [
        None,
        (
            "BatchNorm1d(2, eps=1e-05, momentum=0.1, affine=True, bias=False, "
            "track_running_stats=True)"
        ),
        ["weight", "running_mean", "running_var", "num_batches_tracked"],
    ],
    a_check_of_the_users: NORMALIZED,
    no_check: Error("NotImplementedError"),
    a_state_that_lost_the_counter: Error(
        "RuntimeError",
        "Error(s) in loading state_dict for BatchNorm1d:\n\tMissing key(s) in state_dict: "
        '"num_batches_tracked". ',
    ),
}


@each(MODULES)
def test_norms_are_made_loaded_and_checked_as_in_pytorch(
    torch: Any, program: Any, expected: Any
) -> None:
    expect(outcome(torch, program), expected)
