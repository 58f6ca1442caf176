"""The memory that captions count is what an independent count of saved tensors finds: each byte
once, and what parameters and buffers own apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradstep
from gradstep.graph.folding import fold
from gradstep.graph.folding.totals import totals
from gradstep.graph.model import Graph
from gradstep.graph.serialize import from_json, to_json
from gradstep.graph.statistics import format_bytes
from gradstep_viz.picture.captions import captions
from tests.both import on_pytorch

Program = Callable[[Any], tuple[Any, Callable[[], Any]]]


def convolutions(torch: Any) -> tuple[Any, Callable[[], Any]]:
    nn = torch.nn
    net = nn.Sequential(
        nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(),
            nn.MaxPool2d(2),
        ),
        nn.Sequential(nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten()),
        nn.Linear(32, 5),
    )  # fmt: skip
    x, target = torch.randn(2, 3, 8, 8), torch.tensor([1, 2])
    return net, lambda: nn.functional.cross_entropy(net(x), target)


def evaluated(torch: Any) -> tuple[Any, Callable[[], Any]]:
    net, loss = convolutions(torch)
    return net.eval(), loss


def variational(torch: Any) -> tuple[Any, Callable[[], Any]]:
    nn = torch.nn
    net = nn.ModuleDict(
        {"inner": nn.Linear(12, 8), "mean": nn.Linear(8, 2), "spread": nn.Linear(8, 2),
         "outer": nn.Linear(2, 12)}
    )  # fmt: skip
    x, noise = torch.randn(6, 12), torch.randn(6, 2)

    def loss() -> Any:
        h = torch.tanh(net["inner"](x))
        mean, spread = net["mean"](h), net["spread"](h)
        again = net["outer"](mean + noise * (spread / 2).exp())
        return ((again - x) ** 2).mean() + (mean**2 + spread.exp() - spread).mean()

    return net, loss


def thirds_of_one(torch: Any) -> tuple[Any, Callable[[], Any]]:
    """Query, key and value are slices of one tensor."""
    net = torch.nn.Linear(8, 24)
    x = torch.randn(2, 5, 8)

    def loss() -> Any:
        q, k, v = net(x).chunk(3, -1)
        return (torch.softmax(q @ k.transpose(1, 2), -1) @ v).sum()

    return net, loss


def part_of_the_data(torch: Any) -> tuple[Any, Callable[[], Any]]:
    net, data = torch.nn.Linear(4, 2), torch.randn(1000, 4)
    return net, lambda: (net(data[:16]) ** 2).mean()


def tied(torch: Any) -> tuple[Any, Callable[[], Any]]:
    net, ids = torch.nn.Embedding(10, 4), torch.tensor([1, 2, 3])
    return net, lambda: ((net(ids) @ net.weight.t()) ** 2).mean()


def expanded(torch: Any) -> tuple[Any, Callable[[], Any]]:
    net, x, y = torch.nn.Linear(4, 4), torch.randn(1, 4), torch.randn(50, 4)
    return net, lambda: (net(x).expand(50, 4) * y).sum()


def recurrent(torch: Any) -> tuple[Any, Callable[[], Any]]:
    net, x = torch.nn.LSTM(4, 8, 2), torch.randn(5, 3, 4)
    return net, lambda: (net(x)[0][-1] ** 2).mean()


def translated(torch: Any) -> tuple[Any, Callable[[], Any]]:
    net = torch.nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, batch_first=True)
    x = torch.randn(2, 5, 8)
    return net, lambda: (net(x, x) ** 2).mean()


PROGRAMS = (convolutions, evaluated, variational, thirds_of_one, part_of_the_data, tied, expanded)


def bytes_of(tensor: Any) -> set[int]:
    """The address of each byte of a tensor."""
    if hasattr(tensor, "array"):
        array = tensor.array
        begin, strides, size = array.ctypes.data, array.strides, array.itemsize
    else:
        size = tensor.element_size()
        begin, strides = tensor.data_ptr(), [size * stride for stride in tensor.stride()]
    places = np.array([begin])
    for length, stride in zip(tensor.shape, strides, strict=True):
        places = np.add.outer(places, np.arange(length) * stride).ravel()
    return set(np.add.outer(places, np.arange(size)).ravel().tolist())


def counted(torch: Any, net: Any, loss: Callable[[], Any]) -> tuple[int, int, int]:
    """The bytes that a graph saves, those of parameters, and those of buffers."""
    kept: list[Any] = []

    def pack(tensor: Any) -> Any:
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = loss()
    saved = set[int]().union(*map(bytes_of, kept))
    parameters = set[int]().union(*map(bytes_of, net.parameters()))
    buffers = set[int]().union(*map(bytes_of, net.buffers()))
    del result
    return len(saved - parameters - buffers), len(saved & parameters), len(saved & buffers)


def totals_of(graph: Graph) -> tuple[int, int, int]:
    total = totals(graph)
    return total.saved_bytes, total.parameter_bytes, total.buffer_bytes


def check(torch: Any, program: Program) -> None:
    torch.manual_seed(0)
    net, loss = program(torch)
    expected = counted(torch, net, loss)
    assert expected[0]
    with gradstep.trace():
        traced = loss()
    for result in (loss(), traced):
        graph = gradstep.capture(result, names={"net": net})
        assert totals_of(graph) == expected
        assert totals_of(fold(graph, max_boxes=2)) == expected
        assert totals_of(from_json(to_json(graph))) == expected


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_saved_is_what_an_independent_count_finds(torch: Any, program: Program) -> None:
    check(torch, program)


@on_pytorch
@pytest.mark.parametrize("program", [recurrent, translated])
def test_so_it_is_for_modules_of_pytorch(torch: Any, program: Program) -> None:
    check(torch, program)


@pytest.mark.parametrize("program", [convolutions, variational])
def test_a_caption_says_what_it_counts(torch: Any, program: Program) -> None:
    net, loss = program(torch)
    saved, parameters, buffers = counted(torch, net, loss)
    owners = "parameters and buffers" if buffers else "parameters"
    caption = captions(gradstep.capture(loss(), names={"net": net}), "both")[-1]
    anyway = format_bytes(parameters + buffers)
    assert caption.endswith(f" · ⋯ saved {format_bytes(saved)} + {anyway} {owners}")


def test_lines_into_a_group_add_up_to_what_it_saves(torch: Any) -> None:
    net, loss = convolutions(torch)
    with gradstep.trace():
        result = loss()
    graph = fold(gradstep.capture(result, names={"net": net}), max_boxes=4)
    cards = [
        id
        for id, group in graph.groups.items()
        if graph.halves[id] == "backward" and group.kind != "chain" and group.saved_bytes
    ]
    assert cards
    for card in cards:
        lines = [edge for edge in graph.edges() if edge.kind == "saved" and edge.target == card]
        several = [edge.nbytes for edge in lines if edge.multiplicity > 1]
        single = [edge.nbytes for edge in lines if edge.multiplicity == 1]
        assert several
        assert sum(several + single) == graph.groups[card].saved_bytes


def test_a_caption_of_what_belongs_to_no_module_is_short(torch: Any) -> None:
    x = torch.ones(4, requires_grad=True)
    plain = captions(gradstep.capture((x * x).sum(), names={"x": x}), "both")[-1]
    assert plain.endswith(" · ⋯ saved 16 B")


def test_a_parameter_is_known_where_its_module_is_not(torch: Any) -> None:
    net, loss = part_of_the_data(torch)
    graph = gradstep.capture(loss(), names={})
    assert totals_of(graph) == counted(torch, net, loss)


@on_pytorch
def test_memory_that_is_not_there_or_in_pieces_is_no_failure(torch: Any) -> None:
    meta = torch.nn.Linear(4, 2, device="meta")
    graph = gradstep.capture(meta(torch.ones(3, 4, device="meta")).sum(), names={"net": meta})
    assert totals(graph).ops
    sparse = torch.eye(3).to_sparse().requires_grad_()
    w = torch.nn.Parameter(torch.ones(3, 2))
    assert totals(gradstep.capture(torch.sparse.mm(sparse, w).sum(), names={"w": w})).saved_bytes
    net = torch.nn.Linear(4, 4)
    loss = (net(torch.ones(2, 4, requires_grad=True)) ** 2).sum()
    net.weight.untyped_storage().resize_(0)  # as FSDP frees parameters
    assert totals(gradstep.capture(loss, names={"net": net})).parameter_bytes == 0
    lazy = torch.nn.ModuleDict({"lazy": torch.nn.LazyLinear(3), "fc": torch.nn.Linear(2, 2)})
    result = lazy["fc"](torch.ones(1, 2, requires_grad=True)).sum()
    assert totals_of(gradstep.capture(result, names={"net": lazy}))[1] == 16
