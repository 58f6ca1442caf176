"""Errors, hooks, versions and in-place rules, held to PyTorch program by program."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import autograd_core

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def leaf(t, *values):
    return t.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


def backward_twice(t):
    loss = (leaf(t) * leaf(t)).sum()
    loss.backward()
    loss.backward()


def saved_changed(t):
    y = leaf(t) * 2
    z = y * y
    y.add_(1)
    z.sum().backward()


def result_changed(t):
    y = leaf(t).exp()
    y.add_(1)
    y.sum().backward()


def leaf_changed(t):
    x = leaf(t)
    y = x * x
    with t.no_grad():
        x.add_(1)
    y.sum().backward()


def gradient_not_wanted(t):
    y = leaf(t) * 2
    y.requires_grad = False


def gradient_of_integers(t):
    t.tensor([1, 2], requires_grad=True)


def gradient_of_bools(t):
    t.zeros(2, dtype=t.bool, requires_grad=True)


def gradient_of_integers_wanted_later(t):
    t.arange(3).requires_grad = True


def gradient_of_integers_asked_for(t):
    t.arange(3).requires_grad_()


def gradient_of_an_integer_parameter(t):
    t.nn.Parameter(t.arange(3))


def load(t, **state):
    t.nn.Linear(2, 3).load_state_dict(state)


ERRORS: dict[str, Callable[[Any], Any]] = {
    "gradient of integers": gradient_of_integers,
    "gradient of bools": gradient_of_bools,
    "gradient of integers wanted later": gradient_of_integers_wanted_later,
    "gradient of integers asked for": gradient_of_integers_asked_for,
    "gradient of an integer parameter": gradient_of_an_integer_parameter,
    "backward twice": backward_twice,
    "saved value changed": saved_changed,
    "saved result changed": result_changed,
    "leaf changed": leaf_changed,
    "in-place on a leaf": lambda t: leaf(t).add_(1),
    "backward from a vector": lambda t: (leaf(t) * 2).backward(),
    "backward without a graph": lambda t: t.tensor(1.0).backward(),
    "gradient of another shape": lambda t: (leaf(t) * 2).backward(t.ones(2)),
    "grad by an unused leaf": lambda t: t.autograd.grad(leaf(t).sum(), [leaf(t)]),
    "grad by a constant": lambda t: t.autograd.grad(leaf(t).sum(), t.tensor(1.0)),
    "integers that require a gradient": lambda t: t.tensor([1]).requires_grad_(),
    "no gradient for a computed tensor": gradient_not_wanted,
    "retain_grad of a constant": lambda t: t.tensor(1.0).retain_grad(),
    "hook on a constant": lambda t: t.tensor(1.0).register_hook(lambda g: g),
    "numpy() of a leaf": lambda t: leaf(t).numpy(),
    "bool() of a vector": lambda t: bool(leaf(t)),
    "item() of a vector": lambda t: leaf(t).item(),
    "len() of a scalar": lambda t: len(t.tensor(1.0)),
    "iteration over a scalar": lambda t: list(t.tensor(1.0)),
    "shapes that do not broadcast": lambda t: t.ones(2, 3) + t.ones(2, 4),
    "matrices that do not fit": lambda t: t.ones(2, 3) @ t.ones(2, 3),
    "linear that does not fit": lambda t: t.nn.functional.linear(
        t.ones(2, 3), t.ones(4, 5), t.ones(4)
    ),
    "matrices of two dtypes": lambda t: t.ones(2, 2) @ t.ones(2, 2, dtype=t.float64),
    "mm of a vector": lambda t: t.mm(t.ones(2, 3), t.ones(3)),
    "view of a transposed matrix": lambda t: t.ones(2, 3).t().view(6),
    "view of another size": lambda t: t.ones(2, 3).view(4),
    "t() of three dimensions": lambda t: t.ones(2, 2, 2).t(),
    "in-place that grows": lambda t: t.ones(3).add_(t.ones(2, 3)),
    "in-place that changes the dtype": lambda t: t.tensor([1, 2]).add_(1.5),
    "no such dimension": lambda t: t.ones(3).sum(2),
    "no such dimension to add": lambda t: t.ones(2).unsqueeze(3),
    "no such index": lambda t: t.ones(3)[5],
    "no such picked index": lambda t: t.ones(3)[t.tensor([0, 5])],
    "too many indices": lambda t: t.ones(3)[0, 0],
    "slice that runs backwards": lambda t: t.ones(3)[::-1],
    "cat of two sizes": lambda t: t.cat([t.ones(2, 3), t.ones(2, 4)]),
    "cat of two ranks": lambda t: t.cat([t.ones(2, 3), t.ones(2)]),
    "cat of nothing": lambda t: t.cat([]),
    "stack of two sizes": lambda t: t.stack([t.ones(2), t.ones(3)]),
    "stack of nothing": lambda t: t.stack([]),
    "split that does not add up": lambda t: t.ones(5).split([2, 2]),
    "expand of a real size": lambda t: t.ones(2, 3).expand(4, 3),
    "mean of integers": lambda t: t.tensor([1, 2]).mean(),
    "max of nothing": lambda t: t.ones(0).max(),
    "integers to negative powers": lambda t: t.tensor([2]) ** -1,
    "clamp without bounds": lambda t: t.ones(2).clamp(),
    "layer norm of another shape": lambda t: t.nn.functional.layer_norm(t.ones(2, 3), (4,)),
    "channels that do not fit": lambda t: t.nn.functional.conv2d(
        t.ones(1, 3, 4, 4), t.ones(2, 2, 2, 2)
    ),
    "kernel larger than the image": lambda t: t.nn.functional.conv2d(
        t.ones(1, 3, 1, 1), t.ones(2, 3, 2, 2)
    ),
    "label out of range": lambda t: t.nn.functional.cross_entropy(t.ones(2, 3), t.tensor([0, 5])),
    "too many labels": lambda t: t.nn.functional.cross_entropy(t.ones(2, 3), t.tensor([0, 1, 2])),
    "unknown reduction": lambda t: t.nn.functional.mse_loss(
        t.ones(2), t.ones(2), reduction="median"
    ),
    "singular system": lambda t: t.linalg.solve(t.zeros(2, 2), t.ones(2)),
    "system that is not square": lambda t: t.linalg.solve(t.zeros(2, 3), t.ones(2)),
    "module without forward": lambda t: t.nn.Module()(1),
    "module without that attribute": lambda t: t.nn.Linear(2, 3).nothing,
    "state with a key too few": lambda t: load(t, weight=t.ones(3, 2)),
    "state with wrong shapes and keys": lambda t: load(t, weight=t.ones(3, 3), x=t.ones(2)),
    "optimizer without parameters": lambda t: t.optim.SGD([], lr=0.1),
    "negative learning rate": lambda t: t.optim.SGD([leaf(t)], lr=-1),
    "optimizer of a computed tensor": lambda t: t.optim.SGD([leaf(t) * 2], lr=1),
    "nesterov without momentum": lambda t: t.optim.SGD([leaf(t)], lr=1, nesterov=True),
    "dropout beyond certainty": lambda t: t.nn.Dropout(1.5),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_have_the_kind_and_words_of_pytorch(name: str) -> None:
    said = []
    for namespace in (autograd_core, torch):
        with pytest.raises(Exception) as caught:
            ERRORS[name](namespace)
        kinds = (IndexError, ValueError, TypeError, AttributeError, NotImplementedError)
        kind = next((k for k in kinds if isinstance(caught.value, k)), RuntimeError)
        assert isinstance(caught.value, kind)
        said.append((kind, str(caught.value)))
    assert said[0] == said[1]


# --- programs that tell what happened ----------------------------------------------------------


def hooks_in_order(t):
    log = []

    def note(what, result=None):
        return lambda *_: log.append(what) or result

    x = leaf(t)
    y = x * 2
    z = y**2
    z.retain_grad()
    y.register_hook(lambda g: log.append(f"y {g.tolist()}"))
    y.register_hook(lambda g: g * 10)
    z.register_hook(note("z"))
    y.grad_fn.register_prehook(note("before mul"))
    y.grad_fn.register_hook(note("after mul"))
    z.grad_fn.register_prehook(lambda g: (log.append("before pow"), (g[0] * 2,))[1])
    x.register_hook(note("x"))
    x.register_post_accumulate_grad_hook(lambda p: log.append(f"grad {p.grad.tolist()}"))
    removed = y.register_hook(note("never"))
    removed.remove()
    z.sum().backward()
    return log, z.grad.tolist(), x.grad.tolist()


def hook_seen_by_grad(t):
    x = leaf(t)
    y = x * 3
    y.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: g + 1)
    return [g.tolist() for g in t.autograd.grad((y * y).sum(), [x, y])], x.grad


def hook_on_split(t):
    x = leaf(t, 1.0, 2.0, 3.0, 4.0)
    a, b = x.split(2)
    seen = []
    a.grad_fn.register_prehook(lambda g: seen.append([e is None or e.tolist() for e in g]))
    b.register_hook(lambda g: seen.append(g.tolist()))
    (b * 5).sum().backward()
    return seen, x.grad.tolist(), a.output_nr, b.output_nr


def accumulation(t):
    x = leaf(t)
    for _ in range(3):
        (x * x).sum().backward()
    before = x.grad
    x.grad = None
    x.sum().backward()
    return before.tolist(), x.grad.tolist()


def only_these_inputs(t):
    x, y = leaf(t), leaf(t)
    loss = (x * y).sum()
    loss.backward(inputs=[x], retain_graph=True)
    first = x.grad.tolist(), y.grad
    loss.backward(inputs=y)
    return first, x.grad.tolist(), y.grad.tolist()


def unused_and_materialized(t):
    x, y = leaf(t), leaf(t)
    loss = (x * 2).sum()
    loose = t.autograd.grad(loss, [x, y], allow_unused=True, retain_graph=True)
    whole = t.autograd.grad(loss, [x, y], materialize_grads=True)
    return loose[1], whole[1].tolist(), whole[0].tolist()


def modes(t):
    x = leaf(t)
    with t.no_grad():
        a = x * 2
        with t.enable_grad():
            b = x * 2
    with t.set_grad_enabled(False):
        c = x * 2

    @t.no_grad()
    def plain():
        return x * 2

    made = [a, b, c, plain(), x * 2, x.detach() * 2, x.detach().requires_grad_() * 2]
    return [m.requires_grad for m in made], t.is_grad_enabled()


def versions(t):
    x = t.ones(4)
    seen = [x._version]
    view = x[1:3]
    view.mul_(3)
    seen += [x._version, view._version]
    x.add_(1)
    x.detach().zero_()
    seen += [x._version, view._version]
    x.data.fill_(7)
    return [*seen, x._version], view.tolist(), view._base is x, x.is_leaf


def in_place_chain(t):
    x = leaf(t)
    y = x * 2
    node = y.grad_fn
    y.mul_(t.tensor([1.0, 2.0, 3.0]))
    y += 1
    y /= 2
    y.sum().backward()
    return x.grad.tolist(), y.grad_fn.name(), node.name(), y._version


def ties_and_kinks(t):
    x = leaf(t, 2.0, 0.0, 2.0, -1.0)
    grads = []
    for run in (
        lambda: x.max(), lambda: x.relu().sum(), lambda: abs(x).sum(), lambda: x.max(0).values,
        lambda: x.clamp(0, 2).sum(), lambda: (x**0).sum(), lambda: x.sqrt().sum(),
        lambda: (1 / x).sum(), lambda: x.log().sum(), lambda: (x**0.5).sum(), lambda: (0**x).sum(),
    ):  # fmt: skip
        grads += t.autograd.grad(run(), x)
    return str([g.tolist() for g in grads])


def graph_of_gradients(t):
    x = leaf(t)
    (g,) = t.autograd.grad((x**3).sum(), x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x, create_graph=True)
    (k,) = t.autograd.grad(h.sum(), x)
    return g.requires_grad, h.tolist(), k.tolist(), k.requires_grad


def seeds(t):
    x, y = leaf(t), leaf(t)
    t.autograd.backward([x * 2, y * 3], [t.ones(3), t.tensor([1.0, 0.0, 2.0])])
    return x.grad.tolist(), y.grad.tolist()


def shared_gradients(t):
    x, y = leaf(t), leaf(t)
    (x + y).sum().backward()
    x.grad.add_(1)
    return y.grad.tolist()


def leaf_as_root(t):
    x = leaf(t, 2.0)
    x.backward()
    x.backward(t.tensor([3.0]))
    return x.grad.tolist(), x.grad_fn, x.is_leaf


def kept_with_the_node(t):
    y = leaf(t) * 2
    y.grad_fn.metadata["note"] = 5
    return y.grad_fn.metadata, y.grad_fn.next_functions[0][0].variable.tolist()


TOLD = [
    hooks_in_order, hook_seen_by_grad, hook_on_split, accumulation, only_these_inputs,
    unused_and_materialized, modes, versions, in_place_chain, ties_and_kinks, graph_of_gradients,
    seeds, shared_gradients, leaf_as_root, kept_with_the_node,
]  # fmt: skip


@pytest.mark.parametrize("program", TOLD, ids=lambda program: program.__name__)
def test_programs_tell_the_same_story(program: Callable[[Any], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        theirs = program(torch)
    assert program(autograd_core) == theirs
