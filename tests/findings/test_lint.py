"""Lint: a minimal program for each finding, and one like it that has none, on both engines."""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep import Session, trace
from gradstep.findings import Finding
from gradstep.findings.linting import lint
from gradstep.findings.rules.run.initialization import has_equal_rows
from gradstep.graph.model import Source
from tests.both import on_pytorch, on_the_core

Leaf = Callable[..., Any]


@pytest.fixture
def leaf(torch: Any) -> Leaf:
    return lambda *values: torch.tensor(values, requires_grad=True)


def line(source: Source | None) -> str:
    assert source is not None
    return linecache.getline(source.file, source.line).strip()


def worse_than_info(findings: tuple[Finding, ...]) -> list[Finding]:
    return [each for each in findings if each.severity != "info"]


def only(findings: tuple[Finding, ...], code: str) -> Finding:
    """The one finding of that kind, which is the only one to mind."""
    (found,) = [each for each in findings if each.code == code]
    assert [each for each in worse_than_info(findings) if each is not found] == []
    return found


# --- nothing to find ---------------------------------------------------------------------------


def test_a_training_loop_with_logging_has_nothing_to_find(torch: Any) -> None:
    nn = torch.nn
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), nn.Linear(3, 1))
    optimizer = torch.optim.Adam(net.parameters())
    history = []
    with trace(values=True):
        for _ in range(3):
            optimizer.zero_grad()
            predicted = net(torch.from_numpy(np.ones((4, 2))).float())
            mask = (predicted > 0).float()
            loss = (predicted * mask).square().mean() + 0 * predicted.sum()
            assert lint(loss) == ()
            loss.backward()
            history.append((loss.item(), loss.detach().numpy()))
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()


def test_masks_noise_indices_and_initial_values_are_no_cuts(torch: Any, leaf: Leaf) -> None:
    with trace(values=True):
        net = torch.nn.Linear(2, 2)
        net.bias.requires_grad_(False)
        w = leaf(1.0, 2.0)
        noise = torch.zeros_like(w) + torch.randn_like(w)
        h = net(w) * (w > 0) + noise
        dropped = torch.nn.functional.dropout(w).sum()
        loss = w[w.argmax()] + torch.where(h > 1, h, 0.0).sum() + dropped
    assert [each.code for each in lint(loss)] == ["shared"]


def test_printing_a_value_takes_nothing_out_of_the_graph(leaf: Leaf) -> None:
    with trace(values=True):
        w, v = leaf(1.0), leaf(3.0)
        text = f"{w.sum():.2f}"
        loss = v.sum()
    assert text == "1.00"
    assert only(lint(loss), "unreached").severity == "warning"


@on_the_core  # on PyTorch it takes four times as long
def test_a_long_chain_is_no_trouble(leaf: Leaf) -> None:
    with trace():
        w = leaf(1.0)
        y = w
        for _ in range(20_000):
            y = y * 1.0
        loss = y.detach() * w
    assert worse_than_info(lint(loss)) == []


def test_lint_changes_nothing(leaf: Leaf) -> None:
    with trace(values=True):
        w = leaf(1.0, 2.0)
        loss = (w * w.exp()).sum()
    assert lint(loss) == lint(loss)
    loss.backward()
    assert w.grad.tolist() == pytest.approx([2 * np.e, 3 * np.e**2])


@on_pytorch
def test_memory_that_was_never_written_is_not_read(torch: Any, leaf: Leaf) -> None:
    w = leaf(1.0, 2.0)
    torch.use_deterministic_algorithms(True)  # which fills it with NaN
    try:
        with trace(values=True):
            loss = (w * torch.empty_like(w).zero_() * torch.empty(2).fill_(1)).sum()
    finally:
        torch.use_deterministic_algorithms(False)
    assert worse_than_info(lint(loss)) == []


# --- leaves ------------------------------------------------------------------------------------


def test_parameters_out_of_reach_are_named_with_their_module(torch: Any) -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            return self.used(x)

    net = Net()
    with trace(values=True):
        loss = net(torch.ones(2, 3)).sum()
    found = only(lint(loss), "unreached")
    assert found.severity == "warning"
    assert found.what.startswith("unused.weight and unused.bias require a gradient")
    net.unused.requires_grad_(False)
    assert lint(loss) == ()


def test_a_leaf_out_of_reach_is_named(leaf: Leaf) -> None:
    used, unused = leaf(1.0), leaf(2.0)
    found = only(lint(used.exp(), names={"used": used, "unused": unused}), "unreached")
    assert found.what == "unused requires a gradient, but the loss does not depend on it"


@on_pytorch
def test_a_module_that_was_a_pattern_for_others_is_only_good_to_know(torch: Any) -> None:
    layer = torch.nn.TransformerEncoderLayer(4, 1, 8)
    model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    with trace(values=True):
        loss = model(torch.ones(2, 1, 4)).sum()
    found = only(lint(loss), "unreached")
    assert (found.severity, found.what) == ("info", "the loss depends on no parameter of layer")


@pytest.mark.parametrize("reentrant", [True, False])
def test_parameters_within_a_checkpoint_are_not_called_unreached(
    torch: Any, leaf: Leaf, reentrant: bool
) -> None:
    net = torch.nn.Linear(2, 2)
    with trace(values=True):
        x = leaf(1.0, 2.0)
        loss = torch.utils.checkpoint.checkpoint(net, x, use_reentrant=reentrant).sum()
    found = lint(loss)
    assert worse_than_info(found) == []
    assert [each.code for each in found] == (["unreached"] if reentrant else [])


def test_a_grad_from_before_is_found_and_one_that_was_cleared_is_not(torch: Any) -> None:
    net = torch.nn.Linear(2, 1)
    net(torch.ones(1, 2)).sum().backward()
    with trace(values=True):
        loss = net(torch.ones(1, 2)).sum()
    found = only(lint(loss), "stale-grad")
    assert found.severity == "warning"
    assert found.what.startswith("net.bias and net.weight have a .grad from an earlier backward()")
    assert "zero_grad()" in found.remedy
    net.zero_grad()
    assert lint(loss) == ()


def test_of_leaves_that_no_optimizer_has_another_reason_is_told(torch: Any, leaf: Leaf) -> None:
    known, forgotten = leaf(1.0), leaf(2.0)
    names: dict[str, Any] = {"known": known, "forgotten": forgotten}
    names["optimizer"] = optimizer = torch.optim.SGD([known], lr=0.1)
    for _ in range(2):
        loss = (known * forgotten).sum()
        optimizer.zero_grad()
        found = lint(loss, names=names)
        loss.backward()
    stale = only(found, "stale-grad")
    assert stale.what.startswith("forgotten has a .grad from an earlier backward(), and no optimi")
    assert stale.remedy.startswith("pass all parameters to the optimizer")


def test_layers_in_a_plain_list_have_names_and_a_remedy(torch: Any) -> None:
    class Deep(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(2, 2)
            self.hidden = [torch.nn.Linear(2, 2)]

        def forward(self, x: Any) -> Any:
            return self.hidden[0](self.first(x))

    model = Deep()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        loss = model(torch.ones(1, 2)).sum()
        optimizer.zero_grad()
        found = lint(loss)
        loss.backward()
        optimizer.step()
    stale = only(found, "stale-grad")
    assert stale.what.startswith("hidden[0].bias and hidden[0].weight have a .grad")
    assert stale.remedy.startswith("keep these modules in an nn.ModuleList")


def test_shared_leaves_are_counted(leaf: Leaf) -> None:
    with trace(values=True):
        w = leaf(1.0)
        loss = w * w.exp() + w
    found = only(lint(loss), "shared")
    assert found.severity == "info"
    assert "w (3 times)" in found.what


# --- cuts --------------------------------------------------------------------------------------


def by_detach(torch: Any, h: Any) -> Any:
    return h.detach()


def by_data(torch: Any, h: Any) -> Any:
    return h.data


def by_no_grad(torch: Any, h: Any) -> Any:
    with torch.no_grad():
        return h.exp()


def by_integers(torch: Any, h: Any) -> Any:
    return h.int().float()


def by_choosing(torch: Any, h: Any) -> Any:
    return h.argmax().float()


def by_one_hot(torch: Any, h: Any) -> Any:
    places = h.argmax()
    return torch.nn.functional.one_hot(places, 2).float()


def by_comparing(torch: Any, h: Any) -> Any:
    return (h > 0).float()


def by_numpy(torch: Any, h: Any) -> Any:
    array = h.detach().numpy() * 2
    return torch.from_numpy(array)


def by_tolist(torch: Any, h: Any) -> Any:
    return torch.tensor(h.tolist())


def by_item(torch: Any, h: Any) -> Any:
    return h.sum().item()


CUTS = [
    (by_detach, "takes a value out", "return h.detach()"),
    (by_data, ".data takes a value out", "return h.data"),
    (by_no_grad, "exp ran under no_grad()", "return h.exp()"),
    (by_integers, "a cast gives numbers of dtype int32", "return h.int().float()"),
    (by_choosing, "argmax gives numbers of dtype int64", "return h.argmax().float()"),
    (by_one_hot, "argmax gives numbers of dtype int64", "places = h.argmax()"),
    (by_comparing, "h > 0 is True or False", "return (h > 0).float()"),
    (by_numpy, "numpy()", "array = h.detach().numpy() * 2"),
    (by_tolist, "tolist() took a value computed from it", "return torch.tensor(h.tolist())"),
    (by_item, "item() took a value computed from it", "return h.sum().item()"),
]


@pytest.mark.parametrize(("cut", "what", "text"), CUTS, ids=[cut[0].__name__ for cut in CUTS])
def test_a_cut_that_leaves_a_leaf_without_gradient_is_found_with_its_line(
    torch: Any, leaf: Leaf, cut: Callable[[Any, Any], Any], what: str, text: str
) -> None:
    with trace(values=True):
        w, v = leaf(1.0, 2.0), leaf(3.0, 4.0)
        loss = (cut(torch, w * 2) * v).sum()
    found = only(lint(loss), "cut")  # and it is not called unreached, too
    assert found.severity == "warning"
    assert what in found.what
    assert "w gets no gradient" in found.what
    assert line(found.source) == text
    loss.backward()
    assert w.grad is None


def test_what_follows_a_leaf_in_place_is_no_cut(torch: Any, leaf: Leaf) -> None:
    with trace(values=True):
        w, average = leaf(1.0, 2.0), torch.zeros(2)
        with torch.no_grad():
            average.add_(w)
        loss = (w * average).sum()
    assert not [each for each in lint(loss) if each.code == "cut"]


@pytest.mark.parametrize(
    "cut", [by_detach, by_data, by_no_grad, by_integers], ids=lambda cut: cut.__name__
)
def test_a_cut_beside_another_way_is_only_good_to_know(
    torch: Any, leaf: Leaf, cut: Callable[[Any, Any], Any]
) -> None:
    with trace(values=True):
        w = leaf(1.0, 2.0)
        loss = (cut(torch, w * 2) * w).sum()
    found = only(lint(loss), "cut")
    assert found.severity == "info"
    assert found.what.endswith("no gradient flows back through it")


@on_the_core  # PyTorch copies nothing without telling so
def test_a_tensor_made_of_a_leaf_is_a_cut_whose_both_lines_are_given(
    torch: Any, leaf: Leaf
) -> None:
    with trace():
        w, v = leaf(1.0, 2.0), leaf(3.0, 4.0)
        array = w.detach().numpy()
        made = torch.tensor(np.sin(array))
        loss = (made * v).sum()
    found = only(lint(loss), "cut")
    assert "to NumPy, and tensor() later made" in found.what
    assert line(found.source) == "array = w.detach().numpy()"
    assert line(found.other) == "made = torch.tensor(np.sin(array))"


def test_a_leaf_behind_two_cuts_is_explained(leaf: Leaf) -> None:
    with trace(values=True):
        w, v = leaf(1.0, 2.0), leaf(3.0, 4.0)
        loss = (w.exp().detach().data.sin() * v).sum()
    assert only(lint(loss), "cut").what.endswith("so w gets no gradient")


def test_a_layer_that_ran_under_no_grad_names_weight_and_bias(torch: Any) -> None:
    encoder, head = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1, bias=False)
    with trace(values=True):
        with torch.no_grad():
            z = encoder(torch.ones(4, 3))
        loss = head(z).sum()
    # all have the name of their module where two need it; linear() takes weight.t() unseen
    assert only(lint(loss), "cut").what.endswith(
        "ran under no_grad(), so encoder.weight and encoder.bias get no gradient"
    )


def test_without_tracing_it_says_that_cuts_are_not_seen(leaf: Leaf) -> None:
    w = leaf(1.0)
    with trace(values=True):
        leaf(2.0).exp()
    found = only(lint(w.exp()), "untraced")  # also after a block that traced
    assert found.severity == "info"
    assert "trace(values=True)" in found.remedy


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_gradient_without_a_graph_is_a_constant_in_the_loss(
    torch: Any, leaf: Leaf, create_graph: bool
) -> None:
    w = leaf(1.0, 2.0)
    with trace(values=True):
        y = (w * w).sum()
        (slope,) = torch.autograd.grad(y, w, retain_graph=True, create_graph=create_graph)
        loss = y + slope.sum()
    if create_graph:
        assert worse_than_info(lint(loss, names={"w": w})) == []
        return
    found = only(lint(loss, names={"w": w}), "create-graph")
    assert "no gradient flows back through it" in found.what
    assert "create_graph=True" in found.remedy
    assert line(found.source).startswith("(slope,) = ")


# --- freed, and changed ------------------------------------------------------------------------


@pytest.mark.parametrize("retain", [False, True])
def test_a_freed_graph_names_the_call_that_freed_it(torch: Any, leaf: Leaf, retain: bool) -> None:
    w = leaf(1.0, 2.0)
    with trace(values=True):
        h = w.exp()
        torch.autograd.grad(h.sum(), w, retain_graph=retain)
        loss = h.prod()
        findings = lint(loss)
    if retain:
        assert worse_than_info(findings) == []
        return
    found = only(findings, "freed")
    assert (found.severity, found.address, found.index) == ("error", "exp:1", 1)
    assert line(found.source) == "h = w.exp()"
    assert line(found.other).startswith("torch.autograd.grad(h.sum(), w")
    assert "retain_graph=True" in found.remedy


def test_a_state_that_is_carried_over_is_to_be_detached(torch: Any, leaf: Leaf) -> None:
    w, u, state = leaf(2.0), leaf(3.0), torch.ones(1)
    for step in range(2):
        state = (state * w).tanh()
        loss = (state * u).sum()
        if step == 0:
            loss.backward()
            w.grad = u.grad = None
    (freed,) = [each for each in lint(loss) if each.code == "freed"]
    assert freed.remedy.startswith(
        "call detach() on what is carried over from the earlier step, at or just after tanh:1"
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda torch, y: y.add_(1),
        lambda torch, y: y[0].mul_(3),
        lambda torch, y: y.detach().zero_(),
        lambda torch, y: y.__setitem__(0, 5.0),
    ],
    ids=["op", "view", "detached", "item"],
)
def test_a_value_changed_in_place_is_named_with_both_lines(
    torch: Any, leaf: Leaf, change: Callable[[Any, Any], Any]
) -> None:
    w = leaf(1.0, 2.0)
    with trace(values=True):
        y = w.exp()
        loss = y.sum()
        change(torch, y)
        change(torch, y)
    found = only(lint(loss), "changed")
    assert found.what == "exp:1 saved result, which was changed in place afterwards"
    assert line(found.source) == "y = w.exp()"
    assert line(found.other).startswith("lambda torch, y: ")
    with pytest.raises(RuntimeError, match="inplace operation"):
        loss.backward()


def test_every_saved_value_changed_in_place_is_found(leaf: Leaf) -> None:
    with trace(values=True):
        w, v = leaf(1.0, 2.0), leaf(1.0, 2.0)
        y = w.exp()
        z = w.sin() * 1
        a = y * v
        b = z * v
        y.add_(1)
        z.mul_(2)
        loss = (a + b).sum()
    found = [each for each in lint(loss) if each.code == "changed"]
    assert [(each.address, line(each.other)) for each in found] == [
        ("mul:3", "z.mul_(2)"), ("mul:2", "y.add_(1)"), ("exp:1", "y.add_(1)"),
    ]  # fmt: skip
    assert {each.severity for each in found} == {"error"}


def test_of_values_that_a_function_saved_the_one_that_changed_is_named(
    torch: Any, leaf: Leaf
) -> None:
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            result = x * y
            ctx.save_for_backward(x, y, result)
            return result

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y, _ = ctx.saved_tensors
            return g * y, g * x

    w = leaf(1.0, 2.0)
    with trace(values=True):
        x, y = w * 2, w * 3
        loss = Product.apply(x, y).sum()
        with torch.no_grad():
            y.mul_(2)
    found = only(lint(loss), "changed")
    assert found.what.startswith("product:1 saved ")
    assert line(found.other) == "y.mul_(2)"


def test_a_step_of_the_optimizer_between_forward_and_backward_is_named_with_its_line(
    torch: Any,
) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, foreach=True)
    with trace(values=True):
        loss, other = net(torch.ones(1, 2)).sum(), net(torch.ones(1, 2)).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        found = only(lint(other), "changed")
        assert line(found.other) == "optimizer.step()"
        assert "or after backward()" in found.remedy


def test_changes_before_and_of_what_is_not_needed_are_nothing_to_find(leaf: Leaf) -> None:
    w = leaf(1.0, 2.0)
    with trace(values=True):
        y = w * 2
        y.add_(1)
        loss = y.exp().sum()
        y.add_(1)
        loss = loss + y.sum()
    assert worse_than_info(lint(loss)) == []


def test_memory_that_is_used_anew_has_no_changes_of_what_was_there(torch: Any, leaf: Leaf) -> None:
    w = leaf(1.0, 2.0)
    with trace(values=True):
        for _ in range(5):
            torch.ones(2).add_(1)
            y = w.exp()
        loss = y.sum()
        y.mul_(2)
    assert line(only(lint(loss), "changed").other) == "y.mul_(2)"


# --- hooks -------------------------------------------------------------------------------------


def clip(*arguments: Any) -> None:
    """A hook."""


class Clipper:
    def hook(self, *arguments: Any) -> None:
        """A hook that is a method."""


def test_hooks_that_are_registered_twice_are_named_with_their_place(torch: Any, leaf: Leaf) -> None:
    net = torch.nn.Linear(2, 2)
    method = Clipper().hook
    with trace(values=True):
        w = leaf(1.0, 2.0)
        for _ in range(2):
            net.weight.register_hook(clip)
            net.register_forward_hook(clip)
            w.register_post_accumulate_grad_hook(lambda parameter: None)
        y = w.exp()
        loss = net(y).sum()
        for _ in range(3):
            y.register_hook(method)
            loss.grad_fn.register_prehook(clip)
        del y
    found = worse_than_info(lint(loss))
    assert {each.code for each in found} == {"duplicate-hook"}
    told = {each.what.split(" is registered ")[1]: each.what for each in found}
    told.pop("3 times on sum:1, and will run 3 times", None)  # PyTorch tells nothing of it
    assert set(told) == {
        "3 times on exp:1, and will run 3 times",
        "2 times on w, and will run 2 times",
        "2 times on net.weight, and will run 2 times",
        "2 times on net, and will run 2 times",
    }
    assert "<lambda>" in told["2 times on w, and will run 2 times"]
    assert "the hook clip " in told["2 times on net, and will run 2 times"]


def test_hooks_that_differ_or_were_removed_are_nothing_to_find(torch: Any, leaf: Leaf) -> None:
    with trace(values=True):
        w, v = leaf(1.0), leaf(1.0)
        for hook in (Clipper().hook, Clipper().hook, clip, lambda g: g * 2, lambda g: g * 3):
            w.register_hook(hook)
        for factor in (2.0, 3.0):
            v.register_hook(clip).remove()
            v.register_hook(lambda g, factor=factor: g * factor)
        h = w.exp() + v
        h.register_hook(clip).remove()
        h.register_hook(clip)
        loss = h.sum()
    assert worse_than_info(lint(loss)) == []


# --- not finite --------------------------------------------------------------------------------


def test_the_op_of_the_forward_pass_that_gave_the_first_nan_is_named(torch: Any) -> None:
    class Norm(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x / x.std(dim=1, keepdim=True)

    net = torch.nn.Sequential(Norm(), torch.nn.Linear(3, 1))
    data = torch.tensor([[1.0, 0.0, -1.0], [0.0, 0.0, 0.0]], requires_grad=True)
    with trace(values=True):
        loss = net(data).square().mean()
    found = only(lint(loss), "not-finite")
    assert found.severity == "warning"
    assert found.what == (
        "0/div:1 produces nan at 3 of 6 places, first at [1, 0], where its inputs are 0 and 0"
    )
    assert line(found.source) == "return x / x.std(dim=1, keepdim=True)"


def test_a_nan_that_was_made_before_the_graph_begins_is_named_with_its_line(
    torch: Any, leaf: Leaf
) -> None:
    w, x = leaf(1.0, 2.0), torch.tensor([1.0, -2.0])
    with trace(values=True):
        y = x.log()
        loss = (w * y).sum()
    found = only(lint(loss), "not-finite")
    assert found.what.startswith("log produces nan at 1 of 2 places, first at [1]")
    assert line(found.source) == "y = x.log()"


def test_a_nan_that_a_custom_function_gives_is_named(torch: Any, leaf: Leaf) -> None:
    class Root(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.sqrt()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    w = leaf(1.0, -2.0)
    with trace(values=True):
        loss = Root.apply(w).sum()
    assert only(lint(loss), "not-finite").address == "root:1"


def test_a_nan_in_data_is_named_and_a_mask_of_minus_infinity_is_nothing_to_find(
    torch: Any, leaf: Leaf
) -> None:
    w, x = leaf(1.0, 2.0), torch.tensor([float("nan"), 2.0])
    with trace(values=True):
        loss = (w * x).exp().sum()
    assert only(lint(loss), "not-finite").what.startswith(
        "mul:1 produces nan at 1 of 2 places, first at [0]; its input is x with nan at 1 of 2"
    )
    with trace(values=True):
        masked = w.masked_fill(torch.tensor([False, True]), float("-inf"))
        loss = torch.softmax(masked, 0)[0]
    assert lint(loss) == ()


@on_pytorch
def test_an_untraced_forward_pass_is_followed_through_what_its_graph_keeps(
    torch: Any, leaf: Leaf
) -> None:
    weight, table = leaf(2.0, 3.0), torch.ones(4, 2, requires_grad=True)
    sums = torch.nn.functional.embedding(torch.tensor([[0, 1], [2, 3]]), table).sum(1)
    loss = (sums / torch.tensor([[-2.0], [1.0]])).sqrt().mul(weight).square().sum()
    what, there = first_nan(loss)[:2]
    assert what.endswith("nan began in the forward pass, at #5 sqrt:1")
    assert there.split(None, 1)[1] == "nan at 2 of 4 places, first at [0, 0], where its input is −1"


def first_nan(loss: Any) -> list[str]:
    """The report of a stop at the first NaN, where nothing was traced."""
    session = Session(loss, names={})
    session.do("catch nan")
    return session.do("continue").text.splitlines()


@on_pytorch
def test_a_softmax_of_a_masked_row_is_named_without_a_trace(torch: Any) -> None:
    mask = torch.tensor([[False, True], [True, True]])
    scores = torch.ones(2, 2, requires_grad=True)
    for value in (-math.inf, math.nan):
        loss = (scores * 2).masked_fill(mask, value).softmax(1).square().sum()
        what = first_nan(loss)[0]
        # only of minus infinity it is known that the softmax follows from it
        assert what.endswith("at #3 softmax:1" + " or earlier" * math.isnan(value))


@on_pytorch
def test_what_a_graph_tells_of_its_forward_pass_is_what_ran(torch: Any) -> None:
    from gradstep.engines.pytorch.engine import PYTORCH
    from gradstep.engines.pytorch.tensors import same_bits

    functional = torch.nn.functional
    x, w = torch.rand(4, 6, requires_grad=True), torch.rand(6, 3, requires_grad=True)
    b = torch.rand(3)
    made = [
        x @ w, torch.addmm(b, x, w), x.view(2, 12), x[1], x[:, 1:5:2], x.t(), x[-1], x.sum(1),
        x.mean(-1, keepdim=True), x.expand(2, 4, 6), x.permute(1, 0), x.double(), x.cumsum(0),
        torch.cat([x, x.exp()], 1), torch.stack([x, x]), x.std(1), x.clamp(min=0.5), x**2, 2**x,
        x.var(0, correction=0), x - w.t()[:1], x / b[:1], torch.sub(x, x.exp(), alpha=3),
        torch.where(x > 0.5, x, -x), x.masked_fill(x > 0.5, 7.0), x + b.sum(), x.unsqueeze(0),
        functional.gelu(x, approximate="tanh"), functional.dropout(x, 0.5),
        functional.layer_norm(x, (6,)), x.norm(), x.softmax(-1), x.log_softmax(0),
        x.amax((0, 1)), x.max(1)[0],
        functional.pad(x, (1, 1), value=2.0), x.roll(1, 0), x.flip(1), x.repeat(2, 1), x.tril(),
    ]  # fmt: skip
    session = Session([each.sum() for each in made], names={})
    kept = PYTORCH.forward.kept_forward(session.roots, session.order)
    assert kept is not None
    known = 0
    for result in made:
        (node,) = [each for each in kept.records if each.origin is result.grad_fn]
        found = kept.get((kept.records[node], result.output_nr))
        known += found is not None
        assert found is None or same_bits(found, result), node
    assert known >= 32  # not what nodes do not tell: constants, what was drawn


# --- as a whole --------------------------------------------------------------------------------


@on_pytorch
def test_what_is_kept_for_the_pass_is_told_by_module_without_the_leaves(torch: Any) -> None:
    nn = torch.nn
    net = nn.Sequential(nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 512), nn.Sigmoid())
    with trace(values=True):
        loss = net(torch.randn(512, 512)).sum()
    found = only(lint(loss), "memory")
    assert found.severity == "info"
    # the results of tanh and sigmoid, and the input of the first layer
    assert found.what.startswith("the graph keeps 3.0 MB for the backward pass, beyond the leaves")
    assert found.what.endswith("1.0 MB in 3, 1.0 MB in 2, 1.0 MB in 0")
    with trace(values=True):
        loss = net(torch.randn(8, 512)).sum()
    assert lint(loss) == ()


def test_several_faults_are_all_reported_the_worst_first(torch: Any) -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return self.one(self.two(x).detach())

    net = Net()
    with trace(values=True):
        y = net(torch.ones(3, 2)).exp()
        y.add_(1)
        loss = (y * y).sum()
    net.one.bias.grad = torch.ones(2)
    found = [(each.severity, each.code) for each in worse_than_info(lint(loss))]
    assert found == [("error", "changed"), ("warning", "cut"), ("warning", "stale-grad")]


@pytest.mark.parametrize(
    ("weight", "equal"),
    [
        ([[1.0, 2.0], [1.0, 2.0]], True),
        ([[1.0, 2.0], [1.0, 3.0]], False),
        ([[1.0, 2.0]], False),
        ([1.0, 1.0], False),
        ([[], []], False),
    ],
)
def test_only_a_matrix_of_several_rows_has_equal_ones(
    torch: Any, weight: list[Any], equal: bool
) -> None:
    assert has_equal_rows(torch.tensor(weight)) == equal
