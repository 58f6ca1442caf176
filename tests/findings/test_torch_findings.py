"""Lint of PyTorch's graphs: one minimal program per finding, and a like one that has none."""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch import nn  # noqa: E402

from gradstep import trace  # noqa: E402
from gradstep.debugger import Session  # noqa: E402
from gradstep.engines.pytorch.engine import PYTORCH  # noqa: E402
from gradstep.engines.pytorch.tensors import same_bits  # noqa: E402
from gradstep.findings import Finding, lint  # noqa: E402
from gradstep.graph.model import Source  # noqa: E402
from gradstep.program.calls import CallSelector, InterceptedCall, intercepting  # noqa: E402
from gradstep_tui.cli import main  # noqa: E402
from tests.engines import torch_programs  # noqa: E402  # imports torch
from tests.findings.test_torch_checks import LEFT_OUT, SLOW  # noqa: E402  # imports torch
from tests.engines.test_torch_graphs import run_whole  # noqa: E402
from tests.forking import run_python  # noqa: E402

pytestmark = pytest.mark.torch


def leaf(*values: float) -> Any:
    return torch.tensor(values, requires_grad=True)


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


# --- programs with nothing to find, and what is found in those that have something ---------------

EXPECTED = {
    "custom_function_without_materialized_zeros": {"freed", "stale-grad"},
    "gradient_penalty": {"unreached"},  # a penalty on slopes does not depend on the last bias
    "grad_with_unused_inputs": {"unreached"},
    "grad_with_zeros_for_unused_inputs": {"unreached"},
    "a_graph_used_twice": {"stale-grad"},
    "vectorized_jacobian": {"unreached"},  # a copy of x is used instead of it
    "frozen_and_unused_layers": {"cut"},
    "nested_tensors": {"stale-grad"},
    "changed_in_place": {"changed"},
    "a_freed_graph": {"freed", "stale-grad"},
}


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(each, marks=[pytest.mark.slow] if each in SLOW else [], id=each.__name__)
        for each in (*torch_programs.ALL, *torch_programs.FAILING)
        if each not in LEFT_OUT
    ],
)
def test_nothing_is_found_in_a_program_that_has_nothing_and_it_goes_on_as_it_would(
    program: Callable[[], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    found: list[Finding] = []

    def handle(intercepted: InterceptedCall) -> bool:
        found.extend(lint(intercepted.call.roots, names=intercepted.names))
        return False

    plain = run_whole(program)
    printed = capsys.readouterr()
    with intercepting(handle, CallSelector(None, ("backward", "grad")), values=True):
        assert run_whole(program) == plain
    assert capsys.readouterr() == printed
    found = [each for each in found if each.severity != "info"]
    assert {each.code for each in found} == EXPECTED.get(program.__name__, set())


def test_a_training_loop_with_logging_has_nothing_to_find() -> None:
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
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()


# --- unreached ---------------------------------------------------------------------------------


class Net(nn.Module):  # type: ignore[misc]  # torch is not there for every check
    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        return self.used(x)


def test_parameters_that_are_not_reached_are_named() -> None:
    net = Net()
    with trace(values=True):
        loss = net(torch.ones(2, 3)).sum()
    found = only(lint(loss), "unreached")
    assert found.what == (
        "unused.weight and unused.bias require a gradient, but the loss does not depend on them"
    )
    net.unused.requires_grad_(False)
    assert lint(loss) == ()


def test_a_module_that_was_a_pattern_for_others_is_only_good_to_know() -> None:
    layer = nn.TransformerEncoderLayer(4, 1, 8)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    with trace(values=True):
        loss = model(torch.ones(2, 1, 4)).sum()
    found = only(lint(loss), "unreached")
    assert (found.severity, found.what) == ("info", "the loss depends on no parameter of layer")


# --- cuts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cut", "said"),
    [
        (lambda h: h.detach(), "detach() or .data takes a value out of the graph"),
        (lambda h: h.data, "detach() or .data takes a value out of the graph"),
        (lambda h: torch.tensor(h.tolist()), "tolist() took a value computed from it"),
        (lambda h: torch.tensor(h.sum().item()), "item() took a value computed from it"),
        (lambda h: torch.from_numpy(h.detach().numpy()), "numpy() took a value"),
        (lambda h: h.int().float(), "a cast gives numbers of dtype int32"),
        (lambda h: (h > 0).float(), "h > 0 is True or False"),
    ],
    ids=["detach", "data", "tolist", "item", "numpy", "cast", "comparison"],
)
def test_a_value_that_leaves_the_graph_is_named_with_its_line(
    cut: Callable[[Any], Any], said: str
) -> None:
    w, b = leaf(1.0, 2.0), leaf(1.0, 2.0)
    with trace(values=True):
        h = w * 2
        loss = (cut(h) + b).sum()
    found = only(lint(loss), "cut")
    assert said in found.what
    assert "w get" in found.what
    assert found.severity == "warning"
    assert found.source is not None
    assert Path(found.source.file).name == "test_torch_findings.py"


def test_a_layer_that_ran_under_no_grad_names_weight_and_bias() -> None:
    encoder, head = nn.Linear(3, 2), nn.Linear(2, 1, bias=False)
    with trace(values=True):
        with torch.no_grad():
            z = encoder(torch.ones(4, 3))
        loss = head(z).sum()
    # all have the name of their module where two need it; linear() takes weight.t() unseen
    assert only(lint(loss), "cut").what == (
        "addmm ran under no_grad(), so encoder.weight and encoder.bias get no gradient"
    )


def test_a_value_computed_under_no_grad_is_named_with_its_line() -> None:
    w, b = leaf(1.0, 2.0), leaf(1.0, 2.0)
    with trace(values=True):
        with torch.no_grad():
            h = w * 2
        loss = (h + b).sum()
    found = only(lint(loss), "cut")
    assert found.what == "mul ran under no_grad(), so w gets no gradient"
    assert line(found.source) == "h = w * 2"


def test_a_cut_beside_another_way_is_only_good_to_know() -> None:
    w = leaf(1.0, 2.0)
    with trace(values=True):
        loss = (w.bfloat16() * (w * 2).detach()).sum()
    assert only(lint(loss), "cut").severity == "info"


def test_masks_noise_and_initial_values_are_no_cuts() -> None:
    with trace(values=True):
        net = nn.Linear(2, 2)
        net.bias.requires_grad_(False)
        w = leaf(1.0, 2.0)
        noise = torch.zeros_like(w) + torch.randn_like(w)
        h = net(w) * (w > 0) + noise
        loss = w[w.argmax()] + torch.where(h > 1, h, 0.0).sum() + nn.functional.dropout(w).sum()
    assert [each.code for each in lint(loss)] == ["shared"]


# --- freed, changed, stale -----------------------------------------------------------------------


def test_a_freed_graph_names_the_call_that_freed_it() -> None:
    w = leaf(1.0, 2.0)
    with trace(values=True):
        h = w.exp()
        torch.autograd.grad(h.sum(), w)
        loss = h.prod()
        found = only(lint(loss), "freed")
    assert (found.severity, found.address) == ("error", "exp:1")
    assert line(found.source) == "h = w.exp()"
    assert line(found.other) == "torch.autograd.grad(h.sum(), w)"


def test_a_retained_graph_is_not_freed() -> None:
    w = leaf(1.0, 2.0)
    with trace(values=True):
        h = w.exp()
        torch.autograd.grad(h.sum(), w, retain_graph=True)
        assert worse_than_info(lint(h.prod())) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda y: y.add_(1),
        lambda y: y[0].mul_(3),
        lambda y: y.detach().zero_(),
        lambda y: y.__setitem__(0, 5.0),
        lambda y: torch._foreach_add_([y.detach()], 1.0),
    ],
    ids=["op", "view", "detached", "item", "list"],
)
def test_a_value_changed_in_place_is_named_with_both_lines(change: Callable[[Any], Any]) -> None:
    w = leaf(1.0, 2.0)
    with trace(values=True):
        y = w.exp()
        loss = y.sum()
        change(y)
        change(y)
    found = only(lint(loss), "changed")
    assert found.what == "exp:1 saved result, which was changed in place afterwards"
    assert line(found.source) == "y = w.exp()"
    assert line(found.other).startswith("lambda y: ")
    with pytest.raises(RuntimeError, match="inplace operation"):
        loss.backward()


def test_of_values_that_a_function_saved_the_one_that_changed_is_named() -> None:
    class Product(torch.autograd.Function):  # type: ignore[misc]
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
    assert found.what == "product:1 saved saved[1], which was changed in place afterwards"
    assert line(found.other) == "y.mul_(2)"


def test_a_step_of_the_optimizer_between_forward_and_backward_is_named_with_its_line() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, foreach=True)
    with trace(values=True):
        loss, other = net(torch.ones(1, 2)).sum(), net(torch.ones(1, 2)).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        found = only(lint(other), "changed")
        assert line(found.other) == "optimizer.step()"
        assert "or after backward()" in found.remedy
        with pytest.raises(RuntimeError, match="inplace operation"):
            other.backward()


def test_changes_before_and_of_what_is_not_needed_are_nothing_to_find() -> None:
    w = leaf(1.0, 2.0)
    with trace(values=True):
        y = w * 2
        y.add_(1)
        loss = y.exp().sum()
        y.add_(1)
        loss = loss + y.sum()
    assert worse_than_info(lint(loss)) == []


def test_memory_that_is_used_anew_has_no_changes_of_what_was_there() -> None:
    w = leaf(1.0, 2.0)
    with trace(values=True):
        for _ in range(5):
            torch.ones(2).add_(1)
            y = w.exp()
        loss = y.sum()
        y.mul_(2)
    assert line(only(lint(loss), "changed").other) == "y.mul_(2)"


def test_a_grad_from_before_is_found_and_one_that_was_cleared_is_not() -> None:
    net = nn.Linear(2, 1)
    net(torch.ones(1, 2)).sum().backward()
    with trace(values=True):
        loss = net(torch.ones(1, 2)).sum()
    found = only(lint(loss), "stale-grad")
    assert found.what == (
        "net.bias and net.weight have a .grad from an earlier backward(), and the new gradient "
        "will be added to it"
    )
    net.zero_grad()
    assert lint(loss) == ()


# --- hooks -------------------------------------------------------------------------------------


def clip(g: Any) -> Any:
    return g.clamp(-1, 1)


def test_hooks_that_are_registered_twice_are_named_with_their_place() -> None:
    net = nn.Linear(2, 2)
    with trace(values=True):
        for _ in range(2):
            net.weight.register_hook(clip)
            net.bias.register_post_accumulate_grad_hook(lambda parameter: None)
            net.register_forward_hook(lambda module, given, result: None)
        h = net(torch.ones(1, 2))
        for _ in range(3):
            h.register_hook(lambda g: g * 2)
        loss = (h * 2).sum()
        del h
    found = [each.what for each in worse_than_info(lint(loss))]
    name = "test_hooks_that_are_registered_twice_are_named_with_their_place.<locals>.<lambda>"
    assert found == [
        f"the hook {name} is registered 3 times on addmm:1, and will run 3 times",
        f"the hook {name} is registered 2 times on net.bias, and will run 2 times",
        "the hook clip is registered 2 times on net.weight, and will run 2 times",
        f"the hook {name} is registered 2 times on net, and will run 2 times",
    ]


def test_hooks_that_differ_or_were_removed_are_nothing_to_find() -> None:
    net = nn.Linear(2, 2)
    with trace(values=True):
        for factor in (1, 2):
            net.weight.register_hook(clip).remove()
            net.weight.register_hook(lambda g, factor=factor: g * factor)
        h = net(torch.ones(1, 2))
        h.register_hook(clip).remove()
        h.register_hook(clip)
        loss = h.sum()
    assert lint(loss) == ()


# --- not finite --------------------------------------------------------------------------------


def test_the_op_of_the_forward_pass_that_gave_the_first_nan_is_named() -> None:
    class Norm(nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return x / x.std(dim=1, keepdim=True)

    net = nn.Sequential(Norm(), nn.Linear(3, 1))
    data = torch.tensor([[1.0, 0.0, -1.0], [0.0, 0.0, 0.0]], requires_grad=True)
    with trace(values=True):
        loss = net(data).square().mean()
    found = only(lint(loss), "not-finite")
    assert found.what == (
        "0/div:1 produces nan at 3 of 6 places, first at [1, 0], where its inputs are 0 and 0"
    )
    assert line(found.source) == "return x / x.std(dim=1, keepdim=True)"


def first_nan(loss: Any) -> list[str]:
    """The report of a stop at the first NaN, where nothing was traced."""
    session = Session(loss, names={})
    session.do("catch nan")
    return session.do("continue").text.splitlines()


def test_an_untraced_forward_pass_is_followed_through_what_its_graph_keeps() -> None:
    weight, table = leaf(2.0, 3.0), torch.ones(4, 2, requires_grad=True)
    sums = torch.nn.functional.embedding(torch.tensor([[0, 1], [2, 3]]), table).sum(1)
    loss = (sums / torch.tensor([[-2.0], [1.0]])).sqrt().mul(weight).square().sum()
    what, there = first_nan(loss)[:2]
    assert what.endswith("nan began in the forward pass, at #5 sqrt:1")
    assert there.split(None, 1)[1] == "nan at 2 of 4 places, first at [0, 0], where its input is −1"


def test_a_softmax_of_a_masked_row_is_named_without_a_trace() -> None:
    mask = torch.tensor([[False, True], [True, True]])
    scores = torch.ones(2, 2, requires_grad=True)
    for value in (-math.inf, math.nan):
        loss = (scores * 2).masked_fill(mask, value).softmax(1).square().sum()
        what = first_nan(loss)[0]
        # only of minus infinity it is known that the softmax follows from it
        assert what.endswith("at #3 softmax:1" + " or earlier" * math.isnan(value))


def test_what_a_graph_tells_of_its_forward_pass_is_what_ran() -> None:
    x, w = torch.rand(4, 6, requires_grad=True), torch.rand(6, 3, requires_grad=True)
    b = torch.rand(3)
    made = [
        x @ w, torch.addmm(b, x, w), x.view(2, 12), x[1], x[:, 1:5:2], x.t(), x[-1], x.sum(1),
        x.mean(-1, keepdim=True), x.expand(2, 4, 6), x.permute(1, 0), x.double(), x.cumsum(0),
        torch.cat([x, x.exp()], 1), torch.stack([x, x]), x.std(1), x.clamp(min=0.5), x**2, 2**x,
        x.var(0, correction=0), x - w.t()[:1], x / b[:1], torch.sub(x, x.exp(), alpha=3),
        torch.where(x > 0.5, x, -x), x.masked_fill(x > 0.5, 7.0), x + b.sum(), x.unsqueeze(0),
        nn.functional.gelu(x, approximate="tanh"), nn.functional.dropout(x, 0.5),
        nn.functional.layer_norm(x, (6,)), x.norm(), x.softmax(-1), x.log_softmax(0),
        x.amax((0, 1)), x.max(1)[0],
        nn.functional.pad(x, (1, 1), value=2.0), x.roll(1, 0), x.flip(1), x.repeat(2, 1), x.tril(),
    ]  # fmt: skip
    session = Session([each.sum() for each in made], names={})
    kept = PYTORCH.kept_forward(session.roots, session.order)
    assert kept is not None
    known = 0
    for result in made:
        (node,) = [each for each in kept.records if each.origin is result.grad_fn]
        found = kept.get((kept.records[node], result.output_nr))
        known += found is not None
        assert found is None or same_bits(found, result), node
    assert known >= 32  # not what nodes do not tell: constants, what was drawn


def test_a_nan_that_was_made_before_the_graph_begins_is_named_with_its_line() -> None:
    w, x = leaf(1.0, 2.0), torch.tensor([1.0, -2.0])
    with trace(values=True):
        y = x.log()
        loss = (w * y).sum()
    found = only(lint(loss), "not-finite")
    assert found.what.startswith("log produces nan at 1 of 2 places, first at [1]")
    assert line(found.source) == "y = x.log()"


def test_a_nan_that_a_custom_function_gives_is_named() -> None:
    class Root(torch.autograd.Function):  # type: ignore[misc]
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


def test_a_nan_in_data_is_named_and_a_mask_of_minus_infinity_is_nothing_to_find() -> None:
    w, x = leaf(1.0, 2.0), torch.tensor([float("nan"), 2.0])
    with trace(values=True):
        loss = (w * x).exp().sum()
    assert only(lint(loss), "not-finite").what == (
        "mul:1 produces nan at 1 of 2 places, first at [0]; its input is x with nan at 1 of 2 "
        "places, first at [0]"
    )
    with trace(values=True):
        masked = w.masked_fill(torch.tensor([False, True]), float("-inf"))
        loss = torch.softmax(masked, 0)[0]
    assert lint(loss) == ()


def test_memory_that_was_never_written_is_not_read() -> None:
    w = leaf(1.0, 2.0)
    torch.use_deterministic_algorithms(True)  # which fills it with NaN
    try:
        with trace(values=True):
            loss = (w * torch.empty_like(w).zero_() * torch.empty(2).fill_(1)).sum()
    finally:
        torch.use_deterministic_algorithms(False)
    assert worse_than_info(lint(loss)) == []


# --- memory, and what is not known -------------------------------------------------------------


def test_what_is_kept_for_the_pass_is_told_by_module_without_the_leaves() -> None:
    net = nn.Sequential(nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 512), nn.Sigmoid())
    with trace(values=True):
        loss = net(torch.randn(512, 512)).sum()
    found = only(lint(loss), "memory")
    assert found.severity == "info"
    # the results of tanh and sigmoid, and the input of the first layer
    assert found.what == (
        "the graph keeps 3.0 MB for the backward pass, beyond the leaves: 1.0 MB in 3, 1.0 MB in "
        "2, 1.0 MB in 0"
    )
    with trace(values=True):
        loss = net(torch.randn(8, 512)).sum()
    assert lint(loss) == ()


def test_without_values_it_says_that_cuts_are_not_seen() -> None:
    w = leaf(1.0)
    found = only(lint(w.exp()), "untraced")
    assert "trace(values=True)" in found.remedy


# --- the command -------------------------------------------------------------------------------

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Check ``script`` with these arguments, and return what came of it."""
    monkeypatch.chdir(tmp_path)

    def check(script: str, *arguments: str) -> tuple[int, str, str]:
        Path("train.py").write_text(dedent(script), "utf-8")
        code = main(["check", *(arguments or ("train.py",))])
        return code, *capsys.readouterr()

    return check


WRONG = """\
    import torch


    class MyCube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x


    x = torch.tensor([[1.0, 0.5, 2.0]], requires_grad=True)
    loss = MyCube.apply(x).sum()
    loss.backward()
    print("after")
    """


def test_the_command_explains_a_wrong_backward_as_on_the_core(run: Run) -> None:
    code, out, err = run(WRONG)
    assert (code, err) == (5, "")
    assert out == dedent("""\
        after
        train.py: 1 error

        error [derivative]  my_cube:1 train.py:17, its backward at train.py:13
          the backward of MyCube is wrong: gradient for x is wrong at [0, 2]: rule 6.00, finite differences 12.00 (ratio 0.5); a factor x is missing
            17 | loss = MyCube.apply(x).sum()
          remedy: return the derivative of forward, times the gradient that backward was given

        looked at: 1 call on 1 line, each of them; the derivatives of 1 custom Function
        not looked at: derivatives of built-in ops (--derivatives)
        what it means: gradstep explain derivative
        next: gradstep debug train.py
        """)  # noqa: E501
    code, out, _ = run(WRONG, "-q", "train.py")
    assert (code, out.count("\n")) == (5, 2)
    assert out.startswith("after\ntrain.py:17: error: the backward of MyCube is wrong: gradient")


def test_the_command_takes_named_tensors_and_later_calls(run: Run) -> None:
    code, _, err = run(WRONG, "train.py:loss")
    assert code == 3
    assert "its graph was freed by an earlier backward pass" in err
    code, out, _ = run(WRONG.replace("loss.backward()", "pass"), "train.py:loss")
    assert code == 5
    assert "error [derivative]  my_cube:1" in out
    script = """
        import torch
        x = torch.ones(3, requires_grad=True)
        for _ in range(3):
            y = x.exp()
            y.sum().backward()
        print(x.grad)
        """
    code, out, _ = run(script, "--call", "last", "--ignore", "stale-grad", "train.py")
    assert code == 0
    assert out.startswith("tensor([8.1548, 8.1548, 8.1548])\n")
    assert "looked at: 1 call on 1 line, each of them" in out


def test_of_grad_nothing_is_said_about_other_leaves(run: Run) -> None:
    script = """
        import torch
        x, y = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
        x.sum().backward()
        torch.autograd.grad((x * x).sum(), x)
        """
    assert run(script, "--call", "grad:1", "train.py")[0] == 0


@pytest.fixture
def no_modes() -> None:
    """Take away function modes, such as a default device, that an earlier test has left: their
    frames stand in every traceback."""
    while torch.overrides._get_current_function_mode_stack():
        torch.overrides._pop_mode()


@pytest.mark.usefixtures("no_modes")
@pytest.mark.parametrize(
    "last",
    ["torch.ones(2) @ torch.ones(3)", "F.apply(x)", "x.view(7)", "x.sum().backward(x)"],
)
def test_the_traceback_of_a_failing_script_has_no_frame_of_a_mode(run: Run, last: str) -> None:
    script = f"""
        import torch

        class F(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x @ torch.ones(3)

        x = torch.ones(2, requires_grad=True)
        {last}
        """
    code, _, err = run(script)
    assert code == 1
    files = [Path(each.split('"')[1]).name for each in err.splitlines() if "  File" in each]
    assert files[0] == "train.py"
    assert set(files[1:]) <= {"train.py", "function.py", "_tensor.py", "__init__.py", "graph.py"}


@pytest.mark.usefixtures("no_modes")
def test_tracebacks_that_a_script_prints_have_no_frame_of_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.py"
    script.write_text(dedent(PRINTS_TRACEBACKS), "utf-8")
    plain = run_python([str(script)], tmp_path)
    assert plain.stdout.count("in forward") == 2
    assert plain.stdout.endswith("2 backward\n")
    assert main(["debug", "--fail-on", "nan", str(script)]) == 0
    out, err = capsys.readouterr()
    assert out == plain.stdout
    assert "in backward\n    traceback.print_stack()" in err
    assert "autograd_core" not in err


PRINTS_TRACEBACKS = """\
    import traceback
    import torch

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            traceback.print_stack()
            stack = traceback.StackSummary.extract(traceback.walk_stack(None))
            print(sum("train.py" in each.filename for each in stack), stack[0].name)
            return g * 2

    class Inner(torch.nn.Module):
        def forward(self, x):
            return x @ torch.ones(7, 7)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            try:
                return self.inner(x)
            except RuntimeError:
                print(traceback.format_exc())
                return Double.apply(x)

    Net()(torch.ones(2, 3, requires_grad=True)).sum().backward()
"""


def test_the_traceback_of_anomaly_mode_has_the_frames_of_the_script_only(run: Run) -> None:
    script = """
        import torch

        x = torch.zeros((), requires_grad=True)
        with torch.autograd.set_detect_anomaly(True):
            torch.nn.functional.softplus(x.sqrt() * 0).backward()
        """
    with pytest.warns(UserWarning, match="Error detected in SqrtBackward0") as told:
        code, _, _ = run(script, "--call", "2", "train.py")
    assert code == 1
    said = str(told[0].message)
    assert said.count("  File ") == said.count("train.py") == 1, said


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_gradient_without_a_graph_is_a_constant_in_the_loss(create_graph: bool) -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace(values=True):
        y = (w * w).sum()
        (slope,) = torch.autograd.grad(y, w, retain_graph=True, create_graph=create_graph)
        loss = y + slope.sum()
    found = [each for each in lint(loss, names={"w": w}) if each.severity == "warning"]
    assert [each.code for each in found] == ([] if create_graph else ["create-graph"])
