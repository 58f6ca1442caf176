"""From tensors to the neutral Graph: halves, names, addresses, formulas, saved values."""

from __future__ import annotations

import gc
from contextlib import nullcontext
from typing import Any

import pytest

import autograd_core as torch
from autograd_core import nn
from autograd_core.autograd.call import make_call
from gradstep import Graph, capture, scope, trace
from gradstep.capturing import Names
from gradstep.console.session import Session
from gradstep.contract.driver import collecting
from gradstep.contract.lookup import engine_of_call
from gradstep.contract.protocol import OWN_RESULT
from gradstep.debugger.history.observed_pass import ObservedPass
from gradstep.engines.native.driver import NativeDriver
from gradstep.graph import NotInGraph


def quadratic(a: Any, b: Any) -> Any:
    O = 3 * a**3  # noqa: E741
    P = b**2
    return O - P


@pytest.fixture
def leaves() -> tuple[Any, Any]:
    return torch.tensor(2.0, requires_grad=True), torch.tensor(6.0, requires_grad=True)


def boxes(graph: Graph, half: str) -> list[tuple[str, str]]:
    return [(node.kind, node.address) for node in graph.nodes() if node.half == half]


def arrows(graph: Graph, kind: str) -> list[tuple[str, int, str, int]]:
    return [
        (graph.address(e.source), e.output_nr, graph.address(e.target), e.input_nr)
        for e in graph.edges()
        if e.kind == kind
    ]


def test_the_backward_half_is_the_plan(leaves: tuple[Any, Any]) -> None:
    a, b = leaves
    Q = quadratic(a, b)
    graph = capture(Q, "backward")
    assert boxes(graph, "backward") == [
        ("op", "sub:1"), ("op", "pow:2"), ("leaf", "b"), ("op", "mul:1"), ("op", "pow:1"),
        ("leaf", "a"), ("seed", "∂Q/∂Q"),
    ]  # fmt: skip
    assert graph.title == "Q"
    assert arrows(graph, "gradient") == [
        ("sub:1", 0, "mul:1", 0), ("sub:1", 1, "pow:2", 0), ("pow:2", 0, "b", 0),
        ("mul:1", 0, "pow:1", 0), ("pow:1", 0, "a", 0), ("∂Q/∂Q", 0, "sub:1", 0),
    ]  # fmt: skip
    assert boxes(graph, "forward") == []
    assert (a.grad, b.grad) == (None, None)


def test_both_halves_are_paired_and_linked_by_what_was_saved(leaves: tuple[Any, Any]) -> None:
    a, b = leaves
    with trace():
        Q = quadratic(a, b)
    graph = capture(Q)
    pairs = {
        (node.address, graph.node(node.pair).address)
        for node in graph.nodes()
        if node.half == "forward" and node.pair is not None
    }
    assert pairs == {(x, x) for x in ("a", "b", "pow:1", "pow:2", "mul:1", "sub:1")}
    assert arrows(graph, "saved") == [("b", 0, "pow:2", 0), ("a", 0, "pow:1", 0)]
    values = {n.address: n.statistics.scalar for n in graph.nodes() if n.half == "forward"}
    assert values == {"a": 2, "b": 6, "pow:1": 8, "mul:1": 24, "pow:2": 36, "sub:1": -12, "Q": -12}


def test_formulas_have_the_names_and_numbers_of_the_node(leaves: tuple[Any, Any]) -> None:
    a, b = leaves
    Q = quadratic(a, b)
    graph = capture(Q, "backward")
    assert {node.address: node.formula for node in graph.nodes() if node.kind == "op"} == {
        "sub:1": "g, −g", "pow:2": "g · (2 · b)", "mul:1": "g · 3", "pow:1": "g · (3 · a²)",
    }  # fmt: skip


def test_gradients_of_a_pass_enter_the_graph(leaves: tuple[Any, Any]) -> None:
    a, b = leaves
    Q = quadratic(a, b)
    driver = NativeDriver(make_call(Q, None, None, False))
    driver.record(0, len(driver.order), collecting(steps := []))
    graph = capture(Q, "backward", steps=steps)
    known = {n.address: n.statistics.scalar for n in graph.nodes() if n.statistics is not None}
    assert known == {"sub:1": 1, "pow:2": -1, "b": -12, "mul:1": 1, "pow:1": 3, "a": 36, "∂Q/∂Q": 1}
    assert [n.detail for n in graph.nodes() if n.name == "AccumulateGrad"] == ["0 − 12", "0 + 36"]


def test_nothing_is_lost_where_a_user_interrupts_nodes_that_run_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = torch.ones(2, requires_grad=True)
    driver = NativeDriver(make_call(x.sin().cos().tanh().exp().sin().sum(), None, None, False))
    waiting = dict(driver.pending)

    def interrupted(task: Any, start: int, stop: int) -> None:
        driver.pending[driver.order[start]] = None
        raise KeyboardInterrupt

    monkeypatch.setattr(type(driver._task), "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        driver.record(0, len(driver.order), lambda step, seconds: True, lambda count: True)
    assert driver.pending == waiting


def test_of_two_results_only_the_one_that_is_named_so_is_the_result() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    call = make_call(x.max(1)[0].exp().sum(), None, None, False)
    engine, nodes = engine_of_call(call), NativeDriver(call).order
    places = {
        node.name(): [engine.reading.input_of(node, name) for name in ("result", "indices", "self")]
        for node in nodes[1:3]
    }
    assert places == {"ExpBackward0": [OWN_RESULT, None, 0], "MaxBackward0": [None, None, 0]}


def test_the_seed_is_what_the_user_passed(leaves: tuple[Any, Any]) -> None:
    a, _ = leaves
    y = a * torch.tensor([1.0, 2.0])
    graph = capture(y, "backward", gradient=torch.tensor([5.0, 5.0]))
    (seed,) = [node for node in graph.nodes() if node.kind == "seed"]
    assert (seed.name, seed.statistics.rms) == ("∂y/∂y", 5)
    assert seed.shape == (2,)


def test_constants_and_detours_without_gradient_are_in_the_traced_forward_half() -> None:
    with trace():
        a = torch.tensor([1.0, 2.0], requires_grad=True)
        c = torch.tensor([3.0, 4.0])
        with torch.no_grad():
            d = a.tanh()
        y = (a * c + d.detach()).sum()
    graph = capture(y, "forward")
    assert ("constant", "c") in boxes(graph, "forward")
    assert not graph.derived_forward


def test_scopes_come_from_modules_and_addresses_survive_edits_elsewhere(torch: Any) -> None:
    class Net(torch.nn.Module):
        def __init__(self, layers: int) -> None:
            super().__init__()
            self.encoder = torch.nn.Sequential(*(torch.nn.Linear(2, 2) for _ in range(layers)))
            self.head = torch.nn.Linear(2, 1)

        def forward(self, x: Any) -> Any:
            return self.head(self.encoder(x).tanh()).sum()

    def addresses(layers: int) -> set[str]:
        net = Net(layers)
        with trace():
            loss = net(torch.ones(3, 2))
        return {node.address for node in capture(loss, "backward").nodes()}

    small, large = addresses(1), addresses(3)
    assert {"encoder.0/addmm:1", "head/addmm:1", "tanh:1", "head.weight"} <= small
    assert small <= large


def test_a_module_that_a_method_of_its_owner_calls_has_the_path_from_there(torch: Any) -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())

        def training_step(self, x: Any) -> Any:
            return self.layers(x).sum()

        def part(self) -> Any:
            return self.layers

    with trace():
        loss = Net().training_step(torch.ones(3, 2)) + Net().part()(torch.ones(1, 2)).sum()
    addresses = {node.address for node in capture(loss, "backward").nodes()}
    assert {"layers.0/addmm:1", "layers.1/relu:1", "0/addmm:1", "1/relu:1"} <= addresses


def test_free_code_can_name_a_scope(torch: Any) -> None:
    a = torch.ones((3, 2), requires_grad=True)
    layer = torch.nn.Linear(2, 2)
    with scope("unseen"):
        untraced = a * 2.0
    with trace(), scope("net"):
        y = a.exp() + untraced
        with scope("gate"):
            y = layer(y.sin())
        y = y.tanh()
    nodes = capture(y, "backward").nodes()
    scopes = {node.address.partition(":")[0]: node.scope for node in nodes if node.kind == "op"}
    assert scopes["mul"] == ""
    assert {op: scopes[op] for op in scopes if op.startswith("net")} == {
        "net/tanh": "net", "net.gate/addmm": "net.gate", "net.gate/t": "net.gate",
        "net.gate/sin": "net.gate", "net/add": "net", "net/exp": "net",
    }  # fmt: skip


def test_every_node_knows_its_line(leaves: tuple[Any, Any]) -> None:
    a, b = leaves
    with trace():
        y = a * b
    node = capture(y, "backward").node(0)
    assert node.source is not None
    assert node.source.file == __file__
    lines = open(__file__, encoding="utf-8").read().splitlines()  # noqa: SIM115
    assert lines[node.source.line - 1].strip() == "y = a * b"


def test_several_outputs_have_numbers() -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    with trace():
        first, second = x.unbind(0)
        y = (first * second).sum()
    graph = capture(y)
    assert ("mul:1", 1, "unbind:1", 1) in arrows(graph, "gradient")
    assert ("unbind:1", 1, "mul:1", 1) in arrows(graph, "value")


def test_several_roots_are_one_graph(leaves: tuple[Any, Any]) -> None:
    a, b = leaves
    shared = a * b
    one, two = shared.tanh(), shared.sin()
    graph = capture([one, two], "backward")
    assert graph.title == "one, two"
    assert sum(kind == "seed" for kind in graph.kinds) == 2
    assert sum(address == "mul:1" for _, address in boxes(graph, "backward")) == 1


def test_a_tensor_without_a_graph_is_refused() -> None:
    with pytest.raises(NotInGraph, match="no graph"):
        capture(torch.tensor(1.0))


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return 2 * ctx.saved_tensors[0] * g


@pytest.mark.parametrize("traced", [False, True])
def test_looking_at_a_graph_never_unpacks_what_hooks_took_away(traced: bool) -> None:
    unpacked: list[Any] = []

    def unpack(t: Any) -> Any:
        unpacked.append(t)
        return t

    x = torch.ones(3, requires_grad=True)
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack)
    with trace() if traced else nullcontext(), hooks:
        loss = Square.apply((x * x).exp()).sum()
    graph = capture(loss)
    detail = [Session(loss).detail(index).saved for index in range(4)]
    assert not unpacked
    shown = [value for values in (*graph.saved.values(), *detail) for value in values]
    assert {(value.state, value.shape) for value in shown} == {("packed", (3,))}
    assert [edge.kind for edge in graph.edges()].count("saved") == 4


def test_leaves_that_are_gone_are_not_taken_for_one_another() -> None:
    with trace():
        loss = torch.stack([torch.randn(3, requires_grad=True).exp() for _ in range(3)]).sum()
    graph = capture(loss)
    assert all(graph.pairs[other] == one for one, other in graph.pairs.items())


def test_the_ops_of_a_backward_pass_that_leaves_a_graph_are_traced() -> None:
    with trace():
        x = torch.tensor(2.0, requires_grad=True)
        (slope,) = torch.autograd.grad(x**3, x, create_graph=True)
        loss = (slope - 1) ** 2
    graph = capture(loss, names={"x": x, "loss": loss})
    assert not graph.derived_forward
    ops = [node for node in graph.nodes() if node.kind == "op" and node.half == "forward"]
    assert [(op.name, op.statistics.scalar) for op in ops if op.statistics] == [
        ("pow", 4), ("mul", 12), ("mul", 12), ("sub", 11), ("pow", 121),
    ]  # fmt: skip
    assert all(op.source and op.source.file == __file__ for op in ops)


def test_a_rule_calls_its_input_by_no_name_that_another_tensor_has() -> None:
    x, y = (torch.tensor(value, requires_grad=True) for value in (2.0, 5.0))
    with trace():
        z = torch.log(x * y)
    node = next(n for n in capture(z, names={"x": x, "y": y, "z": z}).nodes() if "Log" in n.name)
    assert node.formula == "g / self"
    graph = capture(z, names={"self": x, "b": y})
    assert "g / input" in [node.formula for node in graph.nodes()]


def test_nor_after_the_values_were_freed() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = (x * x).sin()
    y.backward()
    formulas = [node.formula for node in capture(y, "backward", names={"x": x, "y": y}).nodes()]
    assert formulas[:2] == ["g · cos(self)", "g · other, g · self"]


def test_a_number_in_the_arithmetic_is_shown(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace():
        loss = (0.5 * x).sum()
    graph = capture(loss, names={"x": x})
    mul = next(node for node in graph.nodes() if node.name == "mul")
    assert mul.detail == "0.5 · x"
    assert mul.pair is not None
    assert graph.formulas[mul.pair] == "g · 0.5"


def test_arithmetic_with_a_number_names_the_leaf() -> None:
    with trace():
        x = torch.tensor(2.0, requires_grad=True)
        y = (3 * x - 1) / 4
    details = [n.detail for n in capture(y, "forward", names={"x": x}).nodes() if n.kind == "op"]
    assert details == ["3 · x", "input − 1", "input / 4"]


def test_a_gradient_that_grad_returns_is_not_said_to_be_accumulated() -> None:
    w = torch.tensor(2.0, requires_grad=True)
    call = make_call(w**2, None, None, False)._replace(inputs=(w,), is_grad=True)
    with ObservedPass(call, Names({"w": w})) as seen:
        seen.run()
        graph = seen.graph("backward")
    (leaf,) = (node for node in graph.nodes() if node.kind == "leaf")
    assert leaf.detail == "returned by grad()"
    assert leaf.statistics is not None
    assert leaf.statistics.scalar == 4


def test_a_result_tells_the_statement_that_made_it() -> None:
    with trace():
        x = torch.tensor(2.0, requires_grad=True)
        y = 3 * x**2  # a comment
        z = y  # made by the line above
        w = (
            x * x
        )  # fmt: skip
    statements = {
        name: [
            n.detail for n in capture(t, names={name: t}).nodes() if n.kind in ("output", "seed")
        ]
        for name, t in {"y": y, "z": z, "w": w}.items()
    }
    assert statements == {"y": ["y = 3 * x**2"] * 2, "z": [""] * 2, "w": [""] * 2}


def traced_forward(loss: Any, **names: Any) -> list[tuple[str, str]]:
    graph = capture(loss, names=names)
    assert not graph.derived_forward
    return [(n.name, n.detail) for n in graph.nodes() if n.half == "forward" and n.kind != "output"]


def test_what_changes_in_place_says_so() -> None:
    with trace():
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        y.add_(1)
    assert traced_forward(y, x=x)[1:] == [("mul", "2 · x"), ("add", "input + 1, in place")]


def test_a_change_through_a_view_stands_where_copy_slices_does() -> None:
    with trace():
        x = torch.ones(2, 3, requires_grad=True)
        y = x * 2
        row = y[0]
        row.mul_(5)
        loss = row.sum() + y.sum()
    assert traced_forward(loss, x=x)[1:4] == [
        ("mul", "2 · x"),
        ("mul", "5 · input, in place through a view"),
        ("as_strided", "size (3,), storage_offset 0"),
    ]
    graph = capture(loss, names={"x": x})
    mul = next(n.id for n in graph.nodes() if "through a view" in n.detail)
    assert graph.names[graph.pairs[mul]] == "CopySlices"
    assert graph.formulas[graph.pairs[mul]] == "g · 5 in the view, g elsewhere"


def test_islands_without_gradient_say_what_made_them_so() -> None:
    with trace():
        x = torch.ones(2, requires_grad=True)
        with torch.no_grad():
            shift = (x * 3).mean()
        loss = ((x - shift) * (x + 1).detach()).sum()
    said = dict(traced_forward(loss, x=x))
    assert said["mean"] == "no_grad"
    assert said["detach()"].startswith("detach() at test_capture.py:")


def test_the_garbage_collector_runs_again_after_a_capture_that_failed() -> None:
    assert gc.isenabled()
    with pytest.raises(NotInGraph):
        capture(torch.tensor(1.0))
    assert gc.isenabled()
    gc.disable()
    try:
        capture(torch.tensor(1.0, requires_grad=True).exp())
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_parameters_of_two_models_have_the_names_of_their_variables() -> None:
    generator, critic = nn.Linear(2, 2), nn.Linear(2, 1)
    names = Names({"generator": generator, "critic": critic, "again": critic})
    assert names.of(generator.weight) == "generator.weight"
    assert names.of(critic.bias) == "critic.bias"
    encoder = nn.Sequential(nn.Linear(2, 2))  # beside them, 0.weight would be read as theirs
    names = Names({"encoder": encoder, "generator": generator, "critic": critic})
    assert names.of(encoder[0].weight) == "encoder.0.weight"


def test_the_parameters_of_one_model_have_their_own_names() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    names = Names({"model": model, "first": model[0]})
    assert names.of(model[0].weight) == "0.weight"
    assert names.of(model[1].weight) == "1.weight"


def test_parameters_of_several_models_and_of_a_single_layer_have_the_variable_in_front() -> None:
    cell, readout = nn.LSTMCell(2, 2), nn.Linear(2, 1)
    names = Names({"cell": cell, "readout": readout})
    assert names.of(cell.weight_ih) == "cell.weight_ih"
    assert names.of(readout.weight) == "readout.weight"
    assert Names({"readout": readout}).of(readout.weight) == "readout.weight"
    whole = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    assert Names({"whole": whole, "last": whole[0], "loss": nn.MSELoss()}).of(whole[0].bias) == (
        "0.bias"
    )


class Distance(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(3, 2)

    def forward(self, anchor: Any, other: Any) -> Any:
        noise = torch.ones(2)
        return (self.embed(anchor) - self.embed(other) * noise).sum()


def test_inputs_are_called_as_the_parameters_of_forward() -> None:
    with trace():
        loss = Distance()(torch.ones(4, 3), torch.ones(4, 3))
    graph = capture(loss, names=Names())
    constants = [node.name for node in graph.nodes() if node.kind == "constant"]
    assert sorted(constants) == ["anchor", "noise", "other"]
    assert len({node.address for node in graph.nodes() if node.half == "forward"}) == sum(
        node.half == "forward" for node in graph.nodes()
    )


def test_a_variable_of_the_program_names_an_input_before_a_parameter_does() -> None:
    pixels = torch.ones(4, 3)
    with trace():
        loss = Distance()(pixels, torch.ones(4, 3))
    names = [node.name for node in capture(loss, names=Names({"pixels": pixels})).nodes()]
    assert "pixels" in names
    assert "anchor" not in names


def test_a_module_inside_another_stands_once_in_a_scope_around_both() -> None:
    net = torch.nn.Sequential(torch.nn.Sequential(torch.nn.ReLU()))
    with trace(), scope("encoder"):
        loss = net(torch.ones(2, requires_grad=True)).sum()
    scopes = {n.name: n.scope for n in capture(loss).nodes() if n.half == "forward"}
    assert (scopes["relu"], scopes["sum"]) == ("encoder.0.0", "encoder")


@pytest.mark.parametrize(
    "library", ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]
)
def test_a_grad_fn_stands_for_the_first_result_of_its_op(library: str) -> None:
    loss = pytest.importorskip(library).ones(2, requires_grad=True).exp().sum()
    graphs = [capture(root, "backward", names={}) for root in (loss, loss.grad_fn)]
    of_loss, of_node = [[(node.kind, node.name) for node in graph.nodes()] for graph in graphs]
    assert of_node == of_loss != []
