"""Checkpoints: the gradients of a plain run, from values that are computed again."""

from __future__ import annotations

import gc
import weakref
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

from autograd_core.autograd.node import notes_of


@pytest.fixture(params=[True, False], ids=["reentrant", "not reentrant"])
def reentrant(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def checkpoint(torch: Any, *args: Any, **kwargs: Any) -> Any:
    return import_module(f"{torch.__name__}.utils.checkpoint").checkpoint(*args, **kwargs)


def leaf(torch: Any, *numbers: float) -> Any:
    return torch.tensor(list(numbers), requires_grad=True)


def names(node: Any) -> list[str]:
    """The first branch of a graph, from its end."""
    found = []
    while node is not None:
        found.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def test_gradients_are_those_of_a_plain_run(torch: Any, reentrant: bool) -> None:
    weight = leaf(torch, 0.5, -1.0)
    runs = []

    def block(x: Any, scale: float) -> Any:
        runs.append(torch.is_grad_enabled())
        return (x * weight).tanh().exp() * scale

    plain, saving = leaf(torch, 1.0, 2.0), leaf(torch, 1.0, 2.0)
    block(plain * 2, 3.0).sum().backward()
    expected, weight.grad = weight.grad, None
    runs.clear()
    checkpoint(torch, block, saving * 2, 3.0, use_reentrant=reentrant).sum().backward()
    assert saving.grad.tolist() == plain.grad.tolist()
    assert weight.grad.tolist() == expected.tolist()
    assert runs == [not reentrant, True]


def test_graphs_show_one_node_or_all(torch: Any) -> None:
    x = leaf(torch, 1.0)
    y = checkpoint(torch, lambda x: x.exp().sin(), x, use_reentrant=True)
    assert names(y.grad_fn) == ["CheckpointFunctionBackward", "torch::autograd::AccumulateGrad"]
    y = checkpoint(torch, lambda x: x.exp().sin(), x, use_reentrant=False)
    assert names(y.grad_fn) == ["SinBackward0", "ExpBackward0", "torch::autograd::AccumulateGrad"]


def test_random_numbers_are_those_of_the_first_run(torch: Any, reentrant: bool) -> None:
    F = torch.nn.functional
    x = torch.ones(100, requires_grad=True)
    y = checkpoint(torch, lambda x: F.dropout(x, 0.5), x, use_reentrant=reentrant)
    torch.manual_seed(7)
    expected = torch.randn(3).tolist()
    torch.manual_seed(7)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    assert torch.randn(3).tolist() == expected  # and those after it go on undisturbed


@pytest.mark.filterwarnings("ignore:None of the inputs")
def test_checkpoints_nest(torch: Any, reentrant: bool) -> None:
    def inner(x: Any) -> Any:
        return x.sin() * x

    def outer(x: Any) -> Any:
        return checkpoint(torch, inner, x.exp(), use_reentrant=reentrant).tanh()

    x, y = leaf(torch, 0.5), leaf(torch, 0.5)
    checkpoint(torch, outer, x, use_reentrant=reentrant).sum().backward()
    inner(y.exp()).tanh().sum().backward()
    assert x.grad.tolist() == y.grad.tolist()


def test_a_checkpoint_has_several_inputs_and_outputs(torch: Any, reentrant: bool) -> None:
    def block(x: Any, note: str, y: Any) -> Any:
        return x * y, x.exp()

    x, y = leaf(torch, 2.0), torch.tensor([3.0])
    product, power = checkpoint(torch, block, x, "note", y, use_reentrant=reentrant)
    (product * 2 + power * 0).sum().backward()
    assert x.grad.tolist() == [6.0]
    assert y.grad is None


def test_without_reentrance_derivatives_go_on(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = checkpoint(torch, lambda x: x * x.exp(), x, use_reentrant=False)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(g.sum(), x)
    assert g.item() == pytest.approx(3 * 2.718281828**2, rel=1e-5)
    assert second.item() == pytest.approx(4 * 2.718281828**2, rel=1e-5)


def test_a_freed_graph_stays_freed(torch: Any, reentrant: bool) -> None:
    y = checkpoint(torch, lambda x: x.exp() * x, leaf(torch, 2.0), use_reentrant=reentrant).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_keywords_are_for_the_kind_without_reentrance(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = checkpoint(torch, lambda x, factor: x * factor, x, factor=3.0, use_reentrant=False)
    y.sum().backward()
    assert x.grad.tolist() == [3.0]
    with pytest.raises(ValueError, match="Unexpected keyword arguments: factor"):
        checkpoint(torch, lambda x, factor: x, x, factor=3.0, use_reentrant=True)


def test_what_changed_in_between_is_found(torch: Any) -> None:
    lengths = [2, 1]

    def block(x: Any) -> Any:
        for _ in range(lengths.pop(0)):
            x = x.exp()
        return x.sin()

    y = checkpoint(torch, block, leaf(torch, 0.1), use_reentrant=False)
    with pytest.raises(RuntimeError, match=r"torch\.utils\.checkpoint"):
        y.sum().backward()


def test_warnings_say_what_is_missing(torch: Any) -> None:
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(torch, lambda x: x.exp(), leaf(torch, 1.0))
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(torch, lambda x: x.exp(), torch.ones(1), use_reentrant=True)


def test_a_chain_in_segments_gives_the_gradients_of_the_chain(torch: Any) -> None:
    nn = torch.nn
    sequential = import_module(f"{torch.__name__}.utils.checkpoint").checkpoint_sequential
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
    x, y = leaf(torch, 1.0, 2.0), leaf(torch, 1.0, 2.0)
    sequential(model, 2, x, use_reentrant=False).sum().backward()
    model(y).sum().backward()
    assert x.grad.tolist() == y.grad.tolist()


def test_saved_values_are_gone_in_between_and_the_graph_dies_alone() -> None:
    torch = import_module("autograd_core")
    x = leaf(torch, 1.0)
    gc.disable()
    try:
        middle: list[Any] = []

        def function(x: Any) -> Any:
            y = x.exp()
            middle.append(weakref.ref(y))
            return y.sin()

        y = checkpoint(torch, function, x * 1, use_reentrant=False)
        assert middle[0]() is None  # although the node of the sine saves it
        watched = weakref.ref(notes_of(y.grad_fn.next_functions[0][0]))
        del y
        assert watched() is None
    finally:
        gc.enable()


# -- options -------------------------------------------------------------------------------------


def checkpoints(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.utils.checkpoint")


def changing(*functions: Any) -> Any:
    """A function that does something else each time."""
    calls = iter(functions)
    return lambda x: next(calls)(x)


def test_contexts_surround_both_runs(torch: Any) -> None:
    log = []

    @contextmanager
    def noting(name: str) -> Any:
        log.append(name)
        yield

    def function(x: Any) -> Any:
        log.append("run")
        return x.exp().sin()

    y = checkpoints(torch).checkpoint(
        function,
        leaf(torch, 1.0, 1.0, 1.0),
        use_reentrant=False,
        context_fn=lambda: (noting("forward"), noting("recompute")),
    )
    y.sum().backward()
    assert log == ["forward", "run", "recompute", "run"]


@pytest.mark.parametrize("options", [{"context_fn": lambda: None}, {"debug": True}])
def test_the_reentrant_kind_has_no_such_options(torch: Any, options: Any) -> None:
    message = "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
    with pytest.raises(ValueError, match=message):
        checkpoints(torch).checkpoint(
            torch.exp, leaf(torch, 1.0, 1.0, 1.0), use_reentrant=True, **options
        )


@pytest.mark.parametrize("early_stop", [True, False])
def test_the_second_run_ends_when_all_is_there(torch: Any, early_stop: bool) -> None:
    log: list[str] = []

    def function(x: Any) -> Any:
        y = x.exp().sin()
        log.append("after the last saved value")
        return y

    module = checkpoints(torch)
    with module.set_checkpoint_early_stop(early_stop):
        y = module.checkpoint(function, leaf(torch, 1.0, 1.0, 1.0), use_reentrant=False)
    log.clear()
    y.sum().backward()
    assert len(log) == (not early_stop)


@pytest.mark.parametrize("early_stop", [True, False])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_pass_inside_a_checkpoint_asks_for_what_was_saved_so_far(
    torch: Any, depth: int, early_stop: bool
) -> None:
    module = checkpoints(torch)

    def slope(function: Any) -> Any:
        def of(x: Any) -> Any:
            y = module.checkpoint(function, x, use_reentrant=False)
            return torch.autograd.grad(y, x, create_graph=True)[0]

        return of

    function: Any = lambda x: x.sin().exp()  # noqa: E731
    for _ in range(depth):
        function = slope(function)
    x = leaf(torch, 0.7)
    with module.set_checkpoint_early_stop(early_stop):
        module.checkpoint(function, x, use_reentrant=False).sum().backward()
    assert x.grad.item() == pytest.approx([-0.112811, -3.419708, -4.512899][depth - 1], 1e-5)


def test_a_second_run_that_saves_less_is_refused(torch: Any) -> None:
    module = checkpoints(torch)
    function = changing(lambda x: x.exp().sin(), lambda x: x.exp())
    y = module.checkpoint(function, leaf(torch, 1.0, 1.0, 1.0), use_reentrant=False)
    with pytest.raises(module.CheckpointError) as caught:
        y.sum().backward()
    assert str(caught.value).splitlines()[:3] == [
        (
            "torch.utils.checkpoint: A different number of tensors was saved during the original "
            "forward and recomputation."
        ),
        "Number of tensors saved during forward: 2",
        "Number of tensors saved during recomputation: 1.",
    ]


def test_a_second_run_of_another_shape_is_refused_unless_told_otherwise(torch: Any) -> None:
    module = checkpoints(torch)
    function = changing(lambda x: x.exp().sin(), lambda x: x[:2].exp().sin())
    y = module.checkpoint(function, leaf(torch, 1.0, 1.0, 1.0), use_reentrant=False)
    with pytest.raises(module.CheckpointError) as caught:
        y.sum().backward()
    lines = str(caught.value).splitlines()
    assert lines[1] == "tensor at position 0:"
    assert lines[2].startswith("saved metadata: {'shape': torch.Size([3]), 'dtype': torch.float32")
    assert lines[3].startswith("recomputed metadata: {'shape': torch.Size([2]), 'dtype': torch.flo")
    function = changing(lambda x: x.exp(), lambda x: x[:1].exp())
    x = leaf(torch, 1.0, 1.0, 1.0)
    y = module.checkpoint(function, x, use_reentrant=False, determinism_check="none")
    y.sum().backward()
    assert x.grad.shape == (3,)
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        module.checkpoint(torch.exp, x, use_reentrant=False, determinism_check="some")


@pytest.mark.parametrize(
    "ask",
    [
        lambda torch, x, y: torch.autograd.grad(y.sum(), x),
        lambda torch, x, y: y.sum().backward(inputs=[x]),
    ],
)
def test_the_reentrant_kind_cannot_know_what_is_wanted(torch: Any, ask: Any) -> None:
    x = leaf(torch, 1.0, 1.0, 1.0)
    y = checkpoints(torch).checkpoint(lambda x: x.exp().sin(), x, use_reentrant=True)
    with pytest.raises(RuntimeError, match=r"incompatible with .grad\(\) or passing an `inputs`"):
        ask(torch, x, y)


def test_saved_values_can_be_read_again_and_again(torch: Any) -> None:
    x = leaf(torch, 1.0, 1.0, 1.0)
    y = checkpoints(torch).checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False)
    assert y.grad_fn._saved_self.tolist() == pytest.approx([2.7182817] * 3)
    y.sum().backward(retain_graph=True)
    once = x.grad.clone()
    y.sum().backward()
    assert x.grad.tolist() == (once * 2).tolist()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


class Reading:
    """Functions that save their arguments, and read them in the backward pass."""

    def __init__(self, torch: Any, times: int) -> None:
        self.read: list[Any] = []
        reading = self.read

        class Product(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any, w: Any) -> Any:
                ctx.save_for_backward(x, w)
                return x * w

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                reading.extend(ctx.saved_tensors for _ in range(times))
                return g * reading[-1][1], None

        self.product = Product.apply


def test_a_pass_gets_each_saved_value_once(torch: Any) -> None:
    module = checkpoints(torch)
    x, w = leaf(torch, 1.0, 2.0), torch.ones(2)
    y = module.checkpoint(Reading(torch, 2).product, x, w, use_reentrant=False)
    with pytest.raises(module.CheckpointError) as caught:
        y.sum().backward()
    assert str(caught.value) == (
        "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked "
        "once. If you are calling ctx.saved_tensors in backward, make sure to do so only once. "
        "Otherwise please open an issue with details on your use case."
    )
    Reading(torch, 2).product(x, w).sum().backward()  # without a checkpoint it may read twice
    assert x.grad.tolist() == [1.0, 1.0]


def test_each_pass_and_each_reading_outside_of_one_runs_the_function_again(torch: Any) -> None:
    runs = []

    def function(x: Any) -> Any:
        runs.append(x)
        return x.sin().exp(), x.cos().exp()

    x = leaf(torch, 1.0, 2.0)
    first, second = checkpoints(torch).checkpoint(function, x, use_reentrant=False)
    counts = [len(runs)]
    for read in (
        lambda: first.grad_fn._saved_result,
        lambda: first.grad_fn._saved_result,
        lambda: (first + second).sum().backward(retain_graph=True),
        lambda: second.sum().backward(),
    ):
        read()
        counts.append(len(runs))
    assert counts == [1, 2, 3, 4, 5]


def test_a_pass_within_the_pass_has_values_of_its_own(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    y = checkpoints(torch).checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False)
    inner: list[Any] = []
    z, total = y * 1, y.sum()
    z.register_hook(lambda g: inner.extend(torch.autograd.grad(total, x, retain_graph=True)))
    z.sum().backward()
    assert inner[0].tolist() == x.grad.tolist()


def test_the_second_run_gets_the_arguments_themselves(torch: Any) -> None:
    given = []

    def function(*arguments: Any) -> Any:
        given.append(arguments)
        return arguments[0] * arguments[1].sin() * arguments[2]

    reading = Reading(torch, 1)
    x, w = leaf(torch, 1.0, 2.0), torch.ones(2)
    arguments = x, x * 1, w
    checkpoints(torch).checkpoint(function, *arguments, use_reentrant=False).sum().backward()
    assert all(a is b for a, b in zip(given[1], arguments, strict=True))
    checkpoints(torch).checkpoint(reading.product, x.sin(), w, use_reentrant=False).sum().backward()
    assert reading.read[0][1] is w


def changed_within(x: Any, w: Any) -> Any:
    return x.mul_(2).sin() * w


def times_w(x: Any, w: Any) -> Any:
    return (x * w).sin().exp()


@pytest.mark.parametrize(
    ("function", "change", "message"),
    [
        (times_w, lambda x, w: w.add_(1), "[torch.FloatTensor [2]] is at version 1; expected"),
        (times_w, lambda x, w: x.mul_(2), "[torch.FloatTensor [2]], which is output 0 of Mul, is"),
        (changed_within, lambda x, w: None, "[torch.FloatTensor [2]], which is output 0 of Mul"),
    ],
    ids=["a constant", "a result", "by the function"],
)
def test_arguments_that_were_changed_in_place_are_refused(
    torch: Any, function: Any, change: Any, message: str
) -> None:
    x, w = leaf(torch, 1.0, 2.0) * 1, torch.ones(2)
    y = checkpoints(torch).checkpoint(function, x, w, use_reentrant=False)
    change(x, w)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    assert message in str(caught.value)


def test_hooks_around_a_checkpoint_get_its_arguments(torch: Any) -> None:
    x, w = leaf(torch, 1.0, 2.0), torch.ones(2)
    log: list[Any] = []

    def pack(t: Any) -> Any:
        log.append("x" if t is x else "w" if t is w else "another")
        return t

    def unpack(t: Any) -> Any:
        log.append("unpack")
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = checkpoints(torch).checkpoint(lambda x, w: (x * w).sin(), x, w, use_reentrant=False)
    y.sum().backward()
    assert log == ["x", "w", "unpack", "unpack"]


def test_without_a_graph_no_argument_is_kept(torch: Any) -> None:
    kept = []
    x = leaf(torch, 1.0)
    with torch.autograd.graph.saved_tensors_hooks(kept.append, lambda t: t), torch.no_grad():
        y = checkpoints(torch).checkpoint(torch.exp, x, use_reentrant=False)
    assert not y.requires_grad
    assert kept == []


def test_a_second_run_to_the_end_may_not_save_more(torch: Any) -> None:
    module = checkpoints(torch)
    function = changing(lambda x: x.exp(), lambda x: x.exp().sin())
    with module.set_checkpoint_early_stop(False):
        y = module.checkpoint(function, leaf(torch, 1.0), use_reentrant=False)
    with pytest.raises(module.CheckpointError) as caught:
        y.sum().backward()
    assert str(caught.value).startswith(
        "torch.utils.checkpoint: trying to save more tensors during recomputation than during the "
        "original forward pass."
    )


def test_tracing_and_contexts_exclude_each_other(torch: Any) -> None:
    with pytest.raises(ValueError, match="debug=True is incompatible with non-default context_fn"):
        checkpoints(torch).checkpoint(
            torch.exp, leaf(torch, 1.0), use_reentrant=False, debug=True, context_fn=lambda: None
        )


def test_a_sequence_asks_for_the_kind_too(torch: Any) -> None:
    with pytest.warns(
        UserWarning, match=r"checkpoint_sequential: the use_reentrant parameter"
    ) as w:
        checkpoints(torch).checkpoint_sequential([torch.exp, torch.sin], 2, leaf(torch, 1.0))
    assert len(w) == 1
    assert str(w[0].message) == (
        "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be "
        "passed explicitly. In version 2.9 we will raise an exception if use_reentrant is not "
        "passed. use_reentrant=False is recommended, but if you need to preserve the current "
        "default behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
        "differences between the two variants."
    )


def test_wrong_options_of_a_sequence_are_refused(torch: Any) -> None:
    functions = [torch.exp, torch.sin]
    with pytest.raises(ValueError, match="Unexpected keyword arguments: foo"):
        checkpoints(torch).checkpoint_sequential(
            functions, 2, leaf(torch, 1.0, 1.0, 1.0), use_reentrant=False, foo=3
        )
