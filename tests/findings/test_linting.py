"""Lint: one minimal program per finding, and programs with nothing to find."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_core as torch
from autograd_core.nn import Linear, Module, Sequential
from autograd_core.utils.checkpoint import checkpoint
from gradstep.engines.native.trace import trace
from gradstep.findings import Finding, lint
from gradstep.graph.model import Source
from tests.findings.test_checking import MyCube


def leaf(*values: float) -> Any:
    return torch.tensor(values, requires_grad=True)


def line(source: Source | None) -> str:
    """The text of a line."""
    assert source is not None
    return linecache.getline(source.file, source.line).strip()


def only(findings: tuple[Finding, ...], code: str) -> Finding:
    """The one finding of that kind."""
    (found,) = [each for each in findings if each.code == code]
    return found


def worse_than_info(findings: tuple[Finding, ...]) -> list[Finding]:
    return [each for each in findings if each.severity != "info"]


# --- nothing to find ---------------------------------------------------------------------------


def test_a_plain_program_has_nothing_to_find() -> None:
    with trace():
        w = leaf(1.0, 2.0)
        loss = (w.exp() * 2).sum()
    assert lint(loss) == ()


def test_a_training_loop_with_logging_has_nothing_to_find() -> None:
    data, history = np.ones((4, 2)), []
    net = Sequential(Linear(2, 3), Linear(3, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with trace():
        for _ in range(3):
            optimizer.zero_grad()
            x = torch.tensor(data)
            predicted = net(x.float())
            mask = (predicted > 0).float()
            loss = (predicted * mask).square().mean()
            assert lint(loss) == ()
            loss.backward()
            history.append(loss.detach().numpy())
            optimizer.step()


def test_an_index_and_a_mask_are_no_cuts() -> None:
    with trace():
        w = leaf(1.0, 2.0)
        loss = w[w.argmax()] + torch.where(w > 1, w, 0.0).sum()
    assert worse_than_info(lint(loss)) == []
    assert "cut" not in {each.code for each in lint(loss)}


# --- not finite ---------------------------------------------------------------------------------


def test_the_op_that_gave_the_first_nan_is_named() -> None:
    with trace(values=True):
        w = leaf(1.0, -2.0)
        loss = (w.log() * 2).sum()
    found = only(lint(loss), "not-finite")
    assert found.severity == "warning"
    assert found.what.startswith("log:1 produces nan at 1 of 2 places")
    assert line(found.source) == "loss = (w.log() * 2).sum()"


def test_nan_that_was_given_is_told_from_nan_that_was_made() -> None:
    with trace(values=True):
        w = leaf(1.0, 2.0)
        x = torch.tensor([float("nan"), 2.0])
        loss = (w * x).exp().sum()
    found = only(lint(loss), "not-finite")
    assert found.what == (
        "mul:1 produces nan at 1 of 2 places, first at [0]; its input is x with nan at 1 of 2 "
        "places, first at [0]"
    )


def test_a_row_that_is_masked_as_a_whole_is_found() -> None:
    with trace(values=True):
        w = leaf(1.0, 2.0)
        loss = torch.softmax(w.masked_fill(torch.tensor([True, True]), float("-inf")), 0).sum()
    found = only(lint(loss), "not-finite")
    assert found.what == (
        "softmax:1 produces nan at 2 of 2 places, first at [0], where all 2 inputs are "
        "\N{MINUS SIGN}inf; its input is the result of masked_fill:1 with inf at 2 of 2 places"
    )


def test_an_infinite_loss_is_led_back_to_the_op_that_made_it_so() -> None:
    with trace(values=True):
        w = leaf(1000.0, 2.0)
        loss = w.exp().sum()
    assert only(lint(loss), "not-finite").address == "exp:1"


def test_a_mask_of_minus_infinity_is_nothing_to_find() -> None:
    with trace(values=True):
        w = leaf(1.0, 2.0, 3.0)
        masked = w.masked_fill(torch.tensor([False, True, False]), float("-inf"))
        loss = (torch.softmax(masked, 0) * torch.arange(3.0)).sum()
    assert lint(loss) == ()


# --- saved values ------------------------------------------------------------------------------


def test_a_state_that_is_carried_over_is_to_be_detached() -> None:
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


def test_layers_in_a_plain_list_have_names_and_a_remedy() -> None:
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
    (stale,) = [each for each in found if each.code == "stale-grad"]
    assert stale.what.startswith("hidden[0].bias and hidden[0].weight have a .grad")
    assert stale.remedy.startswith("keep these modules in an nn.ModuleList")


def test_a_freed_graph_names_the_backward_that_freed_it() -> None:
    with trace():
        w = leaf(1.0, 2.0)
        loss = (w * w).sum()
        loss.backward()
    found = only(lint(loss), "freed")
    assert (found.severity, found.address, found.index) == ("error", "mul:1", 1)
    assert line(found.source) == "loss = (w * w).sum()"
    assert line(found.other) == "loss.backward()"
    assert "retain_graph=True" in found.remedy


def test_every_saved_value_changed_in_place_is_found_with_both_lines() -> None:
    with trace():
        w, v = leaf(1.0, 2.0), leaf(1.0, 2.0)
        y = w.exp()
        z = w.sin() * 1
        a = y * v
        b = z * v
        y.add_(1)
        z.mul_(2)
        loss = (a + b).sum()
    found = [each for each in lint(loss) if each.code == "changed"]
    assert [(each.address, line(each.source), line(each.other)) for each in found] == [
        ("mul:3", "b = z * v", "z.mul_(2)"),
        ("mul:2", "a = y * v", "y.add_(1)"),
        ("exp:1", "y = w.exp()", "y.add_(1)"),
    ]
    assert {each.severity for each in found} == {"error"}
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_what_a_custom_function_saved_is_looked_after_too() -> None:
    with trace():
        w = leaf(1.0, 2.0)
        y = w * 1
        loss = MyCube.apply(y).sum()
        y.add_(1)
    assert only(lint(loss), "changed").address == "mycube:1"


# --- leaves ------------------------------------------------------------------------------------


def test_parameters_out_of_reach_are_named_with_their_module() -> None:
    with trace():
        net, other = Linear(2, 2), Linear(2, 2)
        loss = net(torch.ones(3, 2)).sum()
    found = only(lint(loss), "unreached")
    assert found.severity == "warning"
    assert found.what.startswith("other.weight and other.bias require a gradient")
    assert net is not other


def test_a_leaf_out_of_reach_is_named() -> None:
    used, unused = leaf(1.0), leaf(2.0)
    found = only(lint(used.exp(), names={"used": used, "unused": unused}), "unreached")
    assert found.what == "unused requires a gradient, but the loss does not depend on it"


@pytest.mark.parametrize("reentrant", [True, False])
def test_parameters_within_a_checkpoint_are_not_called_unreached(reentrant: bool) -> None:
    net = Linear(2, 2)
    with trace():
        x = leaf(1.0, 2.0)
        loss = checkpoint(net, x, use_reentrant=reentrant).sum()
    assert worse_than_info(lint(loss)) == []
    assert [each.code for each in lint(loss)] == (["unreached"] if reentrant else [])


def test_a_forgotten_zero_grad_is_suspected() -> None:
    with trace():
        w = leaf(1.0)
        (w * w).sum().backward()
        loss = (w * w).sum()
    found = only(lint(loss), "stale-grad")
    assert (found.severity, found.address) == ("warning", "w")
    assert "zero_grad()" in found.remedy
    w.grad = None
    assert worse_than_info(lint(loss)) == []


def test_of_leaves_that_no_optimizer_has_another_reason_is_told() -> None:
    known, forgotten = leaf(1.0), leaf(2.0)
    names: dict[str, Any] = {"known": known, "forgotten": forgotten}
    names["optimizer"] = optimizer = torch.optim.SGD([known], lr=0.1)
    for _ in range(2):
        loss = (known * forgotten).sum()
        optimizer.zero_grad()
        found = lint(loss, names=names)
        loss.backward()
    (stale,) = [each for each in found if each.code == "stale-grad"]
    assert stale.what.startswith("forgotten has a .grad from an earlier backward(), and no optimi")
    assert stale.remedy.startswith("pass all parameters to the optimizer")


def test_shared_leaves_are_counted() -> None:
    with trace():
        w = leaf(1.0)
        loss = w * w.exp() + w
    found = only(lint(loss), "shared")
    assert found.severity == "info"
    assert "w (3 times)" in found.what


# --- cuts --------------------------------------------------------------------------------------


def by_detach(w: Any) -> Any:
    return w.exp().detach()


def by_data(w: Any) -> Any:
    return w.exp().data


def by_no_grad(w: Any) -> Any:
    with torch.no_grad():
        return w.exp()


def by_integers(w: Any) -> Any:
    return w.long().float()


def by_numpy(w: Any) -> Any:
    array = w.detach().numpy()
    return torch.tensor(np.sin(array))


def by_from_numpy(w: Any) -> Any:
    array = w.detach().numpy() * 2
    return torch.from_numpy(array)


def by_copying(w: Any) -> Any:
    return torch.tensor(w)


CUTS: list[tuple[Callable[[Any], Any], str, str]] = [
    (by_detach, "detach() takes a value out", "return w.exp().detach()"),
    (by_data, ".data takes a value out", "return w.exp().data"),
    (by_no_grad, "exp ran under no_grad()", "return w.exp()"),
    (by_integers, "a cast gives numbers of dtype int64", "return w.long().float()"),
    (by_numpy, "to NumPy, and tensor() later made", "array = w.detach().numpy()"),
    (by_from_numpy, "to NumPy, and from_numpy() later made", "array = w.detach().numpy() * 2"),
    (by_copying, "tensor() takes a value out", "return torch.tensor(w)"),
]


@pytest.mark.parametrize(("cut", "what", "text"), CUTS, ids=[c[0].__name__ for c in CUTS])
def test_a_cut_that_leaves_a_parameter_without_gradient_is_found_with_its_line(
    cut: Callable[[Any], Any], what: str, text: str
) -> None:
    with trace():
        w, v = leaf(1.0, 2.0), leaf(3.0, 4.0)
        loss = (cut(w) * v).sum()
    findings = lint(loss)
    found = only(findings, "cut")
    assert found.severity == "warning"
    assert what in found.what
    assert found.what.endswith("so w gets no gradient")
    assert line(found.source) == text
    assert "unreached" not in {each.code for each in findings}  # it is explained
    loss.backward()
    assert w.grad is None


@pytest.mark.parametrize(
    "cut", [by_detach, by_data, by_no_grad, by_copying], ids=lambda cut: cut.__name__
)
def test_a_cut_beside_another_way_is_only_good_to_know(cut: Callable[[Any], Any]) -> None:
    with trace():
        w = leaf(1.0, 2.0)
        loss = (cut(w) * w).sum()
    assert worse_than_info(lint(loss)) == []
    assert only(lint(loss), "cut").what.endswith("no gradient flows back through it")


@pytest.mark.parametrize("how", ["item()", "tolist()", "numpy()"])
def test_a_value_that_became_a_number_is_named_where_its_leaf_gets_nothing(how: str) -> None:
    with trace():
        w, v = leaf(1.0), leaf(3.0, 4.0)
        half = w * 0.5
        if how == "item()":
            scale = half.item()
        else:
            scale = half.tolist()[0] if how == "tolist()" else float(half.detach().numpy()[0])
        loss = (v * scale).sum()
    found = only(lint(loss), "cut")
    assert found.severity == "warning"
    assert found.what == (
        f"w gets no gradient: the loss does not depend on it, but {how} took a value computed "
        "from it out of the graph"
    )
    assert line(found.source).startswith("scale = half.")


def test_printing_a_value_takes_nothing_out_of_the_graph() -> None:
    with trace():
        w, v = leaf(1.0), leaf(3.0)
        text = f"{w.sum():.2f}"
        loss = v.sum()
    assert text == "1.00"
    assert only(lint(loss), "unreached").severity == "warning"


def test_a_leaf_behind_two_cuts_is_explained() -> None:
    with trace():
        w, v = leaf(1.0, 2.0), leaf(3.0, 4.0)
        loss = (w.exp().detach().data.sin() * v).sum()
    assert only(lint(loss), "cut").what.endswith("so w gets no gradient")


def test_both_lines_of_a_way_through_numpy_are_given() -> None:
    with trace():
        w, v = leaf(1.0, 2.0), leaf(3.0, 4.0)
        loss = (by_numpy(w) * v).sum()
    found = only(lint(loss), "cut")
    assert line(found.source) == "array = w.detach().numpy()"
    assert line(found.other) == "return torch.tensor(np.sin(array))"


def test_without_tracing_it_says_that_cuts_are_not_seen() -> None:
    w = leaf(1.0)
    found = only(lint(w.exp()), "untraced")
    assert found.severity == "info"
    assert "trace(values=True)" in found.remedy


# --- hooks -------------------------------------------------------------------------------------


def shout(*arguments: Any) -> None:
    """A hook."""


class Shouter:
    def hook(self, *arguments: Any) -> None:
        """A hook that is a method."""


def test_a_hook_registered_twice_is_found_on_tensors_nodes_leaves_and_modules() -> None:
    net = Linear(2, 2)
    with trace():
        w = leaf(1.0, 2.0)
        y = w.exp()
        loss = net(y).sum()
    for _ in range(2):
        y.register_hook(shout)
        loss.grad_fn.register_prehook(shout)
        w.register_post_accumulate_grad_hook(shout)
        net.register_forward_hook(shout)
        net.register_full_backward_hook(shout)
    found = [each for each in lint(loss) if each.code == "duplicate-hook"]
    assert [each.what.split(" is registered ")[1] for each in found] == [
        "2 times on sum:1, and will run 2 times",
        "2 times on exp:1, and will run 2 times",
        "2 times on w, and will run 2 times",
        "2 times on net, and will run 2 times",
    ]
    assert all(each.what.startswith("the hook shout ") for each in found)
    assert [each.count for each in found] == [1, 1, 1, 2]  # on net, before and after
    assert {each.source.line for each in found} == {shout.__code__.co_firstlineno}


def test_a_function_made_anew_in_a_loop_is_the_same_hook() -> None:
    with trace():
        w = leaf(1.0)
        loss = w.exp()
    for _ in range(3):
        w.register_hook(lambda g: g * 2)
    assert "3 times on w" in only(lint(loss), "duplicate-hook").what


def test_hooks_that_differ_are_no_duplicates() -> None:
    with trace():
        w, v = leaf(1.0), leaf(1.0)
        loss = w.exp() + v
    one, other = Shouter(), Shouter()
    for hook in (one.hook, other.hook, shout, lambda g: g * 2, lambda g: g * 3):
        w.register_hook(hook)
    for factor in (2.0, 3.0):
        v.register_hook(lambda g, factor=factor: g * factor)
    v.register_hook(shout)
    assert worse_than_info(lint(loss)) == []


def test_the_same_method_twice_is_a_duplicate() -> None:
    with trace():
        w = leaf(1.0)
        loss = w.exp()
    shouter = Shouter()
    for _ in range(2):
        w.register_hook(shouter.hook)
    assert only(lint(loss), "duplicate-hook").severity == "warning"


# --- as a whole --------------------------------------------------------------------------------


def test_several_faults_are_all_reported_the_worst_first() -> None:
    class Net(Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = Linear(2, 2), Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return self.one(self.two(x).detach())

    net = Net()
    with trace():
        y = net(torch.ones(3, 2)).exp()
        y.add_(1)
        loss = (y * y).sum()
    net.one.bias.grad = torch.ones(2)
    found = lint(loss)
    assert [(each.severity, each.code) for each in found] == [
        ("error", "changed"),
        ("warning", "cut"),
        ("warning", "stale-grad"),
    ]
    assert "two.weight and two.bias get no gradient" in found[1].what


def test_a_long_chain_is_no_trouble() -> None:
    with trace():
        w = leaf(1.0)
        y = w
        for _ in range(20_000):
            y = y * 1.0
        loss = y.detach() * w
    assert worse_than_info(lint(loss)) == []


def test_lint_changes_nothing() -> None:
    with trace():
        w = leaf(1.0, 2.0)
        loss = (w * w.exp()).sum()
    assert lint(loss) == lint(loss)
    loss.backward()
    assert w.grad.tolist() == pytest.approx([2 * np.e, 3 * np.e**2])


def test_a_gradient_without_a_graph_is_a_constant_in_the_loss() -> None:
    w = leaf(1.0, 2.0)
    with trace():
        y = (w * w).sum()
        (slope,) = torch.autograd.grad(y, w, retain_graph=True)
        loss = y + slope.sum()
    found = only(lint(loss, names={"w": w}), "create-graph")
    assert "the loss uses it: no gradient flows back through it" in found.what
    assert "create_graph=True" in found.remedy
    assert found.source is not None
    assert found.source.file == __file__
    with trace():
        y = (w * w).sum()
        (slope,) = torch.autograd.grad(y, w, create_graph=True)
        loss = y + slope.sum()
    assert worse_than_info(lint(loss, names={"w": w})) == []
