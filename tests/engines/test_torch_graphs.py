"""Graphs of PyTorch programs: what is captured is what PyTorch has, and what its engine did."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from weakref import ref

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import gradstep.engines.pytorch as package  # noqa: E402
import gradstep.engines.pytorch.engine as engine  # noqa: E402  # imports torch
import gradstep.engines.pytorch.tensors as seen_tensors  # noqa: E402
from gradstep import Graph, capture, trace  # noqa: E402
from gradstep.contract.lookup import engine_of  # noqa: E402
from gradstep.engines.pytorch.order import plan_of  # noqa: E402
from gradstep.engines.pytorch.stepping.told_later import are_small  # noqa: E402
from gradstep.engines.pytorch.walking import walk  # noqa: E402
from gradstep.graph.serialize import to_json  # noqa: E402
from gradstep.program.calls import (  # noqa: E402
    CallSelector,
    InterceptedCall,
    intercepting,
    run_and_capture,
    run_and_keep,
)
from gradstep.records import LEAF  # noqa: E402
from gradstep_viz.options import RenderOptions  # noqa: E402
from gradstep_viz.rendering import render_graph  # noqa: E402
from tests.engines import torch_programs  # noqa: E402  # imports torch
from tests.forking import run_python  # noqa: E402
from tests.viz import truth  # noqa: E402

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.torch
MODULES = [f"{package.__name__}.{found.name}" for found in pkgutil.iter_modules(package.__path__)]
EVERY_CALL = CallSelector(None, ("backward", "grad"))
SLOW = {torch_programs.compiled_function, torch_programs.data_parallel, torch_programs.long_chain}
each_program = pytest.mark.parametrize(
    "program",
    [
        pytest.param(each, marks=[pytest.mark.slow] if each in SLOW else [], id=each.__name__)
        for each in (*torch_programs.ALL, *torch_programs.FAILING)
    ],
)


@pytest.mark.parametrize("module", [package.__name__, *MODULES])
def test_the_examples_in_docstrings_hold(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0


class Walk:
    """The part of a graph that a call runs, found without gradstep."""

    def __init__(self, found: InterceptedCall) -> None:
        given = found.call.arguments
        nodes, stack = set(), [_edge(root).node for root in given.outputs]
        while stack:
            node = stack.pop()
            if node not in nodes:
                nodes.add(node)
                stack += [to for to, _ in node.next_functions if to is not None]
        wanted = {_edge(each).node for each in given.inputs if getattr(each, "requires_grad", True)}
        size = -1
        while given.inputs and len(wanted) != size:
            size = len(wanted)
            wanted |= {n for n in nodes if any(to in wanted for to, _ in n.next_functions)}
        running = nodes & wanted if given.inputs else nodes
        self.nodes = Counter((_short(node), _shape(node, 0)) for node in running)
        self.edges = Counter(
            (_short(node), _short(to), nr, _shape(to, nr))
            for node in running
            for to, nr in node.next_functions
            if to in running
        )


def _edge(root: Any) -> Any:
    if isinstance(root, torch.autograd.graph.GradientEdge):
        return root
    return torch.autograd.graph.get_gradient_edge(root)


def _short(node: Any) -> str:
    return str(node.name().removeprefix("torch::autograd::"))


def _shape(node: Any, nr: int) -> tuple[int, ...] | None:
    metadata = node._input_metadata[nr]
    return None if metadata.is_nested_tensor else tuple(metadata.shape)


def drawn_nodes(graph: Graph) -> Counter[Any]:
    return Counter(
        (graph.names[id], graph.shapes[id])
        for id, half in enumerate(graph.halves)
        if half == "backward" and graph.kinds[id] != "seed"
    )


def drawn_edges(graph: Graph) -> Counter[Any]:
    return Counter(
        (graph.names[edge.source], graph.names[edge.target], edge.input_nr, edge.shape)
        for edge in graph.edges()
        if edge.kind == "gradient" and graph.kinds[edge.source] != "seed"
    )


def evidence(found: Any) -> Iterator[Any]:
    """What a program found, so that equal means equal in every bit."""
    if isinstance(found, torch.Tensor):
        with torch.no_grad():
            flat = found.detach().as_subclass(torch.Tensor).resolve_conj().reshape(-1)
            yield found.dtype, tuple(found.shape), flat.view(torch.uint8).numpy().tobytes()
    elif isinstance(found, list | tuple | dict):
        for each in found.values() if isinstance(found, dict) else found:
            yield from evidence(each)
    else:
        yield found


def run_whole(program: Callable[[], Any]) -> list[Any]:
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what PyTorch thinks of old ways of calling it
        return list(evidence(program()))


@pytest.mark.sampled(30)
@pytest.mark.parametrize("values", [False, True], ids=["", "values"])
@each_program
def test_a_captured_call_is_what_pytorch_has_and_leaves_the_program_as_it_was(
    program: Callable[[], Any], values: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    graphs = []

    def handle(found: InterceptedCall) -> Any:
        walk = Walk(found)
        before = capture(found.call.roots, "backward")
        graph, answer = run_and_capture(found, "both")
        assert drawn_nodes(graph) == walk.nodes
        assert drawn_edges(graph) == walk.edges
        truth.check_leaves(graph)
        truth.check_saved(graph)
        for each, view in ((before, "backward"), (graph, "forward"), (graph, "both")):
            assert render_graph(each, "svg", RenderOptions(view=view)).data
        graphs.append(graph)
        return answer

    plain = run_whole(program)
    printed = capsys.readouterr()
    with intercepting(handle, EVERY_CALL, values=values):
        watched = run_whole(program)
    assert watched == plain
    assert capsys.readouterr() == printed
    assert graphs or program in torch_programs.FAILING


@pytest.mark.sampled(16)
@each_program
def test_a_graph_that_is_made_later_is_as_it_was(
    program: Callable[[], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    graphs: list[list[Callable[[], str]]] = []
    leaves: list[Any] = []  # references, for a list of tensors would give them names
    found: list[Any] = []
    for keeps in (False, True):
        made: list[Callable[[], str]] = []
        graphs.append(made)

        def handle(
            call: InterceptedCall, keeps: bool = keeps, made: list[Callable[[], str]] = made
        ) -> Any:
            order = plan_of(call.call.roots).order
            leaves.extend(ref(node.tensor.origin) for node in order if node.kind == LEAF)
            if keeps:
                make, answer = run_and_keep(call, "both")
                made.append(lambda: to_json(make()))
            else:
                graph, answer = run_and_capture(call, "both")
                text = to_json(graph)
                made.append(lambda: text)
            return answer

        with intercepting(handle, EVERY_CALL):
            found.append((run_whole(program), capsys.readouterr()))
    assert found[0] == found[1]
    changed = [(leaf.grad, leaf) for each in leaves if (leaf := each()) is not None]
    for tensor in chain(*changed):  # as optimizers do, and whoever clips gradients
        if tensor is not None and tensor.layout is torch.strided and tensor.is_floating_point():
            tensor.data.fill_(7)
    # the lines of this test that are taken for the program's
    at_once, later = [
        [re.sub(rf'"{__file__}", \d+', "", make()) for make in each] for each in graphs
    ]
    assert later == at_once


PLAIN = """
import torch
from gradstep import trace
from gradstep.engines.pytorch.engine import PYTORCH
with trace():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    HOOK
    told = PYTORCH.stepping.told_later(PYTORCH.running.call(y.sum(), None, None, False))
print(told is None, x.grad is None)
"""


@pytest.mark.parametrize("hook", ["", "y.grad_fn.register_prehook(lambda _: None)"])
def test_a_pass_is_told_later_where_no_code_of_the_program_runs_in_it(
    hook: str, tmp_path: Path
) -> None:
    # in a process of its own: graphs that other tests have freed would count
    (tmp_path / "plain.py").write_text(PLAIN.replace("HOOK", hook), "utf-8")
    ran = run_python(["plain.py"], tmp_path)
    assert ran.stdout == f"{bool(hook)} {bool(hook)}\n", ran.stderr


def test_what_arrives_in_a_pass_is_counted_in_bytes() -> None:
    x = torch.ones(3, requires_grad=True)
    tan = x.tan()
    for root, of_nodes in ((x.exp(), 12), (tan + tan, 12 + 3 * 12)):
        for leaves, taken in ((False, of_nodes), (True, of_nodes + 2 * 12)):
            assert are_small(walk([root]), taken, leaves=leaves)
            assert not are_small(walk([root]), taken - 1, leaves=leaves)


def test_the_sample_trains_and_its_picture_in_the_readme_shows_its_graph() -> None:
    run = run_python([str(ROOT / "samples" / "pytorch_digits.py")], ROOT)
    assert (run.returncode, run.stderr) == (0, "")
    epochs = re.findall(
        r"epoch (\d): (\d+\.\d)% of the digits it has seen are read right", run.stdout
    )
    assert len(epochs) == 3
    assert float(epochs[-1][1]) > 95
    options = ["--view", "both", "--width", "736", "-o", "-"]  # as docs/make_images.py has it
    arguments = ["-m", "gradstep", "render", *options, "samples/pytorch_digits.py"]
    drawn = run_python(arguments, ROOT).stdout
    shown = (ROOT / "docs" / "images" / "pytorch-digits.svg").read_text("utf-8")
    boxes = [re.findall(r"<title>([^<\n]+)", text) for text in (drawn, shown)]
    assert boxes[0] == boxes[1]
    assert "stem.weight" in shown


def test_with_values_the_forward_half_is_complete() -> None:
    with trace(values=True):
        weight = torch.nn.Parameter(torch.tensor([[2.0, 0.0], [0.0, 1.0]]))
        data = torch.tensor([[1.0, -3.0]])
        hidden = (data @ weight).relu()
        noise = torch.zeros(1, 2)
        hidden[0, 1:].add_(4)
        loss = (hidden * 3 + noise).sum()
        graph = capture(loss, "forward", names={"weight": weight, "data": data})
    assert not graph.derived_forward
    found = {graph.address(id): id for id in range(len(graph))}
    assert {"weight", "mm:1", "relu:1", "zeros:1", "add:1", "mul:1", "add:2", "sum:1"} <= set(found)
    assert graph.details[found["add:1"]].endswith("in place through a view")
    assert graph.details[found["mul:1"]] == "3 · x"
    assert graph.statistics[found["relu:1"]].maximum == 2
    assert graph.statistics[found["sum:1"]].scalar == 18
    source = graph.sources[found["relu:1"]]
    assert Path(source.file).name == "test_torch_graphs.py"
    sources = {graph.names[edge.source] for edge in graph.edges() if edge.target == found["add:2"]}
    assert sources == {"mul", "zeros"}


def test_ops_of_a_module_of_pytorchs_bear_the_line_that_calls_it() -> None:
    def sharpened(x: Any) -> Any:
        return x.square()  # a line of the program's inside of a layer of PyTorch's

    inner = torch.nn.TransformerEncoderLayer(4, 1, 4, activation=sharpened, batch_first=True)
    plain = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    x = torch.ones(1, 2, 4)
    with trace():
        hidden = plain(x)
        loss = inner(hidden).sum()
        graph = capture(loss, "backward", names={})
    lines = Path(__file__).read_text("utf-8").splitlines()
    texts = {
        graph.address(id): lines[source.line - 1].strip() for id, source in graph.sources.items()
    }
    assert texts["0/addmm:1"] == texts["1/relu:1"] == "hidden = plain(x)"
    assert texts["sum:1"] == texts["linear1/addmm:1"] == "loss = inner(hidden).sum()"
    assert [line.partition("  #")[0] for text, line in texts.items() if "pow" in text] == [
        "return x.square()"
    ]


@pytest.mark.parametrize("elsewhere", [False, True])
def test_tensors_that_are_described_together_are_described_as_each_alone(
    elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if elsewhere:  # as those of a GPU, which this test does not have
        monkeypatch.setattr(seen_tensors, "_is_array", lambda _: False)
        monkeypatch.setattr(seen_tensors, "_is_elsewhere", lambda each: not each.is_meta)
    odd = torch.tensor([1.0, float("nan"), float("-inf")])
    whole = torch.randn(300, 5, dtype=torch.float64)
    tensors = [
        torch.zeros(3), odd, whole[:, 1], whole.t(), torch.ones(()).expand(4, 2), torch.randn(1),
        torch.randn(5000), torch.ones(0), torch.ones(3, dtype=torch.bfloat16), torch.arange(4),
        torch.ones(2, dtype=torch.complex64).conj().imag, torch.eye(3).to_sparse(), None,
        torch.full((2,), 1e200, dtype=torch.float64), torch.ones(2, device="meta"),
        torch.randn(300, 200).t(), torch.randn(40, 30, 20).permute(1, 2, 0)[:, ::2],
        *torch.randn(100, 1000),
    ]  # fmt: skip
    for one, found in zip(tensors, engine.describe_all(tensors), strict=True):
        expected = None if one is None else engine.describe(one)
        if expected is None or found is None:
            assert found is expected
            continue
        assert str(found._replace(rms=0)) == str(expected._replace(rms=0))  # NaN is not equal
        assert found.rms == pytest.approx(expected.rms, rel=1e-12, nan_ok=True)


def test_what_was_traced_is_known_after_the_block() -> None:
    with trace(values=True):
        x = torch.tensor(3.0, requires_grad=True)
        scale = torch.tensor([2.0, 4.0])
        loss = ((x - 1) * scale).sum()
        inside = capture(loss, names={"x": x, "scale": scale})
    outside = capture(loss, names={"x": x, "scale": scale})
    assert outside.kinds.count("leaf") == 2  # x, and x.grad
    assert to_json(outside) == to_json(inside)


def test_a_leaf_of_one_number_has_the_value_that_it_has_now() -> None:
    with trace(values=True):
        bias = torch.nn.Parameter(torch.full((1,), 7.0))
        with torch.no_grad():
            bias.fill_(2.0)  # as the initialization of a module does
        loss = (bias * torch.ones(3)).sum()
        graph = capture(loss, names={"bias": bias})
    leaf = next(node for node in graph.nodes() if node.name == "bias")
    assert leaf.statistics is not None
    assert leaf.statistics.scalar == 2


def test_a_dimension_from_the_end_is_shown_as_it_was_written() -> None:
    x = torch.ones(3, requires_grad=True)
    graph = capture(torch.diag_embed(x, 0, -2, -1).sum(), names={"x": x})
    assert "g.diagonal(0, −2, −1)" in list(graph.formulas)


def test_the_rule_of_each_input_has_the_numbers_of_the_call() -> None:
    x = torch.ones(2, requires_grad=True)
    for total, rule in ((x + x, "g"), (torch.add(x, x, alpha=3), "g · 3")):
        pytorch = engine_of([total]).reading
        node = pytorch.plan(pytorch.tensors([total])).order[0]
        assert node.formulas() == (("self", "g"), ("other", rule))


def test_a_factor_that_is_nearly_1_is_no_factor_1() -> None:
    x = torch.ones(2, requires_grad=True)
    graph = capture((x * 1.0001).sum(), names={"x": x})
    assert "g · 1.0001" in list(graph.formulas)


def test_the_rule_of_a_loss_whose_entry_is_called_forward_is_known() -> None:
    scores = torch.zeros(2, 3, requires_grad=True)
    targets = torch.tensor([0, 2])
    margins = torch.nn.functional.multilabel_margin_loss(scores, torch.tensor([[0, -1, 1]] * 2))
    losses = {
        "nll_loss_backward": torch.nn.functional.nll_loss(scores, targets),
        "multilabel_margin_loss_backward": margins,
    }
    for function, loss in losses.items():
        pytorch = engine_of([loss]).reading
        ((name, rule),) = pytorch.plan(pytorch.tensors([loss])).order[0].formulas()
        assert (name, rule.partition("(")[0]) == ("self", function)


def test_a_constant_with_a_name_keeps_it_in_the_formula() -> None:
    x, rate = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor(0.5)
    graph = capture((rate * x).sum(), names={"x": x, "rate": rate})
    assert "g · rate" in list(graph.formulas)


def test_a_transposed_convolution_has_its_own_name() -> None:
    image = torch.ones(1, 1, 4, 4)
    down = torch.nn.Conv2d(1, 2, 3)
    up = torch.nn.ConvTranspose2d(2, 1, 3)
    graph = capture(up(down(image)).sum(), names={})
    forward = [node.name for node in graph.nodes() if node.half == "forward" and node.kind == "op"]
    assert forward == ["convolution", "conv_transpose", "sum"]
    assert [node.address for node in graph.nodes() if node.name == "ConvolutionBackward0"] == [
        "conv_transpose:1",
        "convolution:1",
    ]
