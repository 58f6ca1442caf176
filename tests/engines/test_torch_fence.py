"""What gradstep does inside of a PyTorch program is no part of it: its modes see none of it, and
memory that it has freed is not read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from gradstep.capturing import capture  # noqa: E402
from gradstep.console.session import Session  # noqa: E402
from gradstep.engines.pytorch.noting import noting  # noqa: E402
from gradstep.engines.pytorch.tensors import copy_of, dense, has_memory  # noqa: E402
from gradstep.program.calls import InterceptedCall, intercepting  # noqa: E402
from gradstep.program.calls import run_and_capture as captured  # noqa: E402
from gradstep_tui.commands.fail_on import FailOn  # noqa: E402
from tests.engines import torch_programs  # noqa: E402  # imports torch
from tests.engines.test_torch_graphs import EVERY_CALL, each_program, run_whole  # noqa: E402
from tests.forking import run_gradstep, run_python  # noqa: E402

pytestmark = pytest.mark.torch


class Counting(TorchDispatchMode):  # type: ignore[misc]  # torch is not there for every check
    """A mode of the user's, as those that count floating-point operations or memory."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen[str(op)] += 1
        return op(*args, **(kwargs or {}))


def draws(found: InterceptedCall) -> Any:
    return captured(found, "both")[1]


def steps(found: InterceptedCall) -> Any:
    session = Session.of_call(found.call, names=found.names, call=found.number)

    def body() -> Any:
        for line in ("next 2", "info node", "continue", "info leaves"):
            session.reply(line)
        session.finish()
        return session.gradients if found.call.is_grad else True

    return session.host(body)


WAYS: dict[str, dict[str, Any]] = {
    "drawn": {"handle": draws},
    "drawn with values": {"handle": draws, "values": True},
    "looked at": {"handle": draws, "look": FailOn("nan").quick_look},
    "stepped through": {"handle": steps},
}


@pytest.mark.sampled(40)
@pytest.mark.parametrize("way", WAYS)
@each_program
def test_a_dispatch_mode_of_the_programs_sees_what_it_sees_plainly(
    program: Callable[[], Any], way: str
) -> None:
    with Counting() as detaching:
        torch.ones(1).detach()
    once = detaching.seen["aten.detach.default"]  # 2 until PyTorch 2.9

    def counted() -> Counter[str]:
        with Counting() as mode:
            run_whole(program)
        # a gradient that is looked at has a holder: the engine makes a copy of it the .grad of a
        # leaf, instead of the gradient itself
        copies = mode.seen.pop("aten.copy_.default", 0)
        mode.seen["aten.detach.default"] += copies * once
        mode.seen["aten.new_empty_strided.default"] -= copies
        return mode.seen

    counted()  # some ops keep what they made for the next time
    plain = counted()
    options = dict(WAYS[way])
    with intercepting(options.pop("handle"), EVERY_CALL, **options):
        watched = counted()
    if program is torch_programs.a_freed_graph:  # the second call may be refused sooner
        assert watched <= plain
    else:
        assert watched == plain


def freed(tensor: Any) -> Any:
    tensor.untyped_storage().resize_(0)
    return tensor


def values_freed(tensor: Any) -> Any:
    freed(tensor._values() if tensor.is_sparse else tensor.values())
    return tensor


def jagged() -> Any:
    parts = [torch.ones(2, 4), torch.ones(3, 4)]
    return torch.nested.nested_tensor(parts, layout=torch.jagged)


@pytest.mark.parametrize(
    ("tensor", "there"),
    [
        (lambda: torch.ones(3), True),
        (lambda: torch.ones(0), True),
        (lambda: torch.ones(4, 4)[1:, ::2], True),
        (lambda: torch.ones(3).expand(2, 3), True),
        (lambda: torch.eye(3).to_sparse(), True),
        (lambda: torch.eye(3).to_sparse_csc(), True),
        (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), True),
        (jagged, True),
        (lambda: torch.ones(3, device="meta"), False),
        (lambda: freed(torch.ones(3)), False),
        (lambda: freed(torch.ones(0)), True),
        (lambda: freed(torch.ones(4, 4)[1:, ::2]), False),
        (lambda: values_freed(torch.eye(3).to_sparse()), False),
        (lambda: freed(torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])), False),
        (lambda: values_freed(jagged()), False),
    ],
)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.filterwarnings("ignore:Sparse")
def test_memory_is_read_where_it_is(tensor: Callable[[], Any], there: bool) -> None:
    made = tensor()
    assert has_memory(made) is there
    assert (dense(made) is not None) is there
    assert (copy_of(made) is not None) is there


def test_a_view_of_memory_that_was_cut_is_not_read() -> None:
    whole = torch.arange(12.0).reshape(3, 4)
    row, column = whole[0], whole[:, 1]
    whole.untyped_storage().resize_(16)
    assert has_memory(row)
    assert not has_memory(column)
    assert not has_memory(whole)


FREED = """
import torch

torch.manual_seed(0)
w = torch.randn(3, 3, requires_grad=True)
h = torch.ones(3, 3)
y = torch.mm(w, h)
def refill(g):
    h.untyped_storage().resize_(36)
    torch._C._autograd._unsafe_set_version_counter((h,), (0,))
    h.data.fill_(1.0)
y.register_hook(refill)
loss = y.exp().sum()
h.untyped_storage().resize_(0)
loss.backward()
print(w.grad.sum().item())
"""
SHARDED = """
import torch, torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
torch.manual_seed(0)
net = nn.Sequential(*[m for _ in range(5) for m in (nn.Linear(8, 8), nn.ReLU())])
for part in net:
    if isinstance(part, nn.Linear):
        fully_shard(part)
fully_shard(net)
net(torch.ones(4, 8)).pow(2).sum().backward()
print(sum(p.grad.full_tensor().sum() for p in net.parameters()))
dist.destroy_process_group()
"""
WALK = ("next", "next", "info node", "next", "info node", "back", "next", "continue")


@pytest.mark.parametrize("code", [FREED, SHARDED], ids=["resize_", "fully_shard"])
def test_memory_that_the_program_frees_during_the_pass_is_shown_as_freed(
    code: str, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(code, "utf-8")
    lines = [word for line in WALK for word in ("--ex", line)]
    walked = run_gradstep(["debug", "--batch", *lines, "train.py"], tmp_path)
    plain = run_plainly(tmp_path)
    assert (walked.returncode, walked.stderr) == (0, "")
    assert walked.stdout.splitlines()[-1] == plain
    assert "freed" in walked.stdout


def run_plainly(folder: Path) -> str:
    done = run_python(["train.py"], folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_an_op_of_numbers_that_writes_into_a_tensor_is_noted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with noting(values=True):
        numbers = torch.arange(3.0, out=torch.zeros(3))
        loss = (numbers * torch.ones(3, requires_grad=True)).sum()
    assert "arange" in capture(loss, "forward", names={}).names
    assert capsys.readouterr().err == ""


NESTED = """
import torch, warnings

warnings.simplefilter("ignore")
layer = torch.nn.Linear(4, 4)
with torch.no_grad():
    layer.weight.fill_({fill})
parts = [torch.ones(2, 4), torch.ones(3, 4)]
nested = torch.nested.nested_tensor(parts, requires_grad=True, layout=torch.{layout})
torch.nested.to_padded_tensor(layer(nested), 0.0).pow(2).sum().backward()
print("done")
"""
SPARSE = """
import torch

embedding = torch.nn.Embedding(5, 2, sparse=True)
embedding(torch.tensor([1, 2])).mul({fill}).sum().backward()
print("done")
"""


@pytest.mark.parametrize("fill", ["1.0", "float('nan')"])
@pytest.mark.parametrize("layout", ["strided", "jagged", "sparse"])
def test_gradients_of_every_layout_are_looked_at(layout: str, fill: str, tmp_path: Path) -> None:
    code = SPARSE if layout == "sparse" else NESTED
    (tmp_path / "train.py").write_text(code.format(fill=fill, layout=layout), "utf-8")
    done = run_gradstep(["debug", "--fail-on", "nan", "train.py"], tmp_path)
    assert done.returncode == (0 if fill == "1.0" else 5), done.stderr
    assert ("done" in done.stdout) is (fill == "1.0")


@pytest.mark.parametrize("layout", ["strided", "jagged"])
def test_nested_tensors_are_checked(layout: str, tmp_path: Path) -> None:
    """PyTorch asks in Python for the size of a jagged leaf while it makes its node, locked."""
    (tmp_path / "train.py").write_text(NESTED.format(fill=1.0, layout=layout), "utf-8")
    done = run_gradstep(["check", "train.py"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "done" in done.stdout


CHANGED_UNDER_A_MODE = """
import torch
from torch.overrides import TorchFunctionMode

names = []
class Seeing(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        names.append(getattr(function, "__name__", function))
        return function(*args, **(kwargs or {{}}))

with {mode}:
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    loss = y.sum()
    y.mul_(2)
print(names)
"""


# a mode of the program's calls the ops itself, at a line of its own
@pytest.mark.sampled(1)
@pytest.mark.parametrize(("mode", "line"), [("Seeing()", 9), ("torch.device('cpu')", 15)])
def test_lines_that_change_values_are_known_under_a_mode_that_sees_nothing_of_ours(
    mode: str, line: int, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(CHANGED_UNDER_A_MODE.format(mode=mode), "utf-8")
    drawn = run_gradstep(["render", "-o", "picture.txt", "train.py:loss"], tmp_path)
    assert drawn.returncode == 0, drawn.stderr
    assert drawn.stdout == run_python(["train.py"], tmp_path).stdout
    picture = (tmp_path / "picture.txt").read_text("utf-8")
    assert f"! result changed in place at train.py:{line} " in picture
