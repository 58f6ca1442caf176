"""PyTorch programs as users start them, and the mistakes in them: what the command says."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import nullcontext
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import autograd_core  # noqa: E402
import gradstep  # noqa: E402
from gradstep import Graph  # noqa: E402
from gradstep.engines.pytorch.noting import noting  # noqa: E402
from gradstep.graph.serialize import from_json  # noqa: E402
from gradstep_tui.cli import main  # noqa: E402
from gradstep_viz.errors import NothingToDraw  # noqa: E402
from tests.engines import torch_programs  # noqa: E402  # imports torch
from tests.forking import run_gradstep  # noqa: E402

pytestmark = pytest.mark.torch
Result = tuple[int, str, str]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def render(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Result]:
    """Write a script, and ``gradstep render`` it in this process; what is drawn comes as text."""
    monkeypatch.chdir(tmp_path)

    def run(code: str, *arguments: str, target: str = "train.py") -> Result:
        script(code)
        status = main(["render", *arguments, "-o", "picture.txt", *target.split()])
        written = tmp_path / "picture.txt"
        return status, written.read_text("utf-8") if status == 0 else "", capsys.readouterr().err

    return run


def script(code: str, name: str = "train.py") -> None:
    Path(name).write_text(textwrap.dedent(code), "utf-8")


def test_a_script_without_pytorch_fails_as_it_does_without_gradstep(
    render: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = PathFinder.find_spec
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setattr(
        PathFinder, "find_spec", lambda name, *more: None if name == "torch" else found(name, *more)
    )
    status, _, said = render("import torch\n")
    assert status == 1
    assert "    import torch\nModuleNotFoundError: No module named 'torch'\n" in said
    assert said.count("File") == 1


def test_a_value_changed_in_place_is_marked_before_the_call_runs(
    render: Callable[..., Result],
) -> None:
    code = """
        import torch
        x = torch.ones(3, requires_grad=True)
        y = x.exp()
        loss = y.sum()
        y.mul_(2)
        """
    status, picture, _ = render(code, target="train.py:loss")
    assert status == 0
    assert "! result changed in place at train.py:6" in picture


def test_a_checkpoint_is_one_box_that_says_why() -> None:
    x = torch.ones(3, requires_grad=True)
    loss = torch.utils.checkpoint.checkpoint(torch.sigmoid, x * 2, use_reentrant=True).sum()
    graph = from_json(str(gradstep.render(loss, format="json")))
    told = {graph.names[id]: detail for id, detail in enumerate(graph.details) if detail}
    assert told["checkpoint_function"] == "checkpoint: its ops and parameters are not drawn"
    assert told["CheckpointFunctionBackward"] == "checkpoint: its ops and parameters are not drawn"


@pytest.mark.slow
def test_a_compiled_function_is_one_box_that_says_why() -> None:
    x = torch.ones(3, requires_grad=True)
    loss = torch.compile(torch_programs.squares, backend="aot_eager")(x).sum()
    graph = from_json(str(gradstep.render(loss, format="json")))
    (node,) = [id for id, name in enumerate(graph.names) if name == "CompiledFunctionBackward"]
    assert graph.details[node] == "compiled: its ops are not drawn"


class Doubled(torch.nn.Module):  # type: ignore[misc]  # torch is not there for every check
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())

    def forward(self, x: Any) -> Any:
        return self.inner(x) * 2


@pytest.mark.slow
def test_a_compiled_model_is_compiled_as_without_gradstep() -> None:
    graphs: list[int] = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(len(graph.graph.nodes))
        return graph.forward

    for around in (nullcontext(), noting()):
        with around:
            torch.compile(Doubled(), backend=backend)(torch.ones(1, 2))
        torch.compiler.reset()
    plain, noted = graphs
    assert plain == noted


def test_tensors_of_both_libraries_cannot_be_drawn_as_one_graph() -> None:
    x, y = torch.ones((), requires_grad=True), autograd_core.ones((), requires_grad=True)
    with pytest.raises(NothingToDraw, match="two libraries"):
        gradstep.render([x * 2, y * 2])


def test_a_program_that_uses_both_libraries_has_the_calls_of_both(
    render: Callable[..., Result],
) -> None:
    code = """
        import autograd_core, torch
        ours = autograd_core.ones((), requires_grad=True)
        theirs = torch.ones((), requires_grad=True)
        ours.exp().backward()
        theirs.sin().backward()
        """
    assert "exp" in render(code)[1]
    assert "sin" in render(code, "--call", "2")[1]


def test_a_file_torch_py_of_the_programs_own_is_left_alone(
    render: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "torch")
    script("from autograd_core import *\n", "torch.py")
    code = """
        import torch
        x = torch.ones(3, requires_grad=True)
        x.exp().sum().backward()
        """
    status, picture, said = render(code)
    assert (status, said) == (0, "gradstep: wrote picture.txt\n")
    assert "exp" in picture
    assert "derived" not in picture  # traced, as this core's own is


SHARDED = """
    import os
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.distributed.fsdp import fully_shard

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
    for layer in (model[0], model[2], model):
        fully_shard(layer)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(3):
        loss = model(torch.randn(3, 4)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    dist.destroy_process_group()
    print("the end")
    """


def test_parameters_that_fsdp_gathers_have_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script(SHARDED)

    def run(*arguments: str) -> tuple[int, str]:
        # a process of its own: one group of processes is all that a process has
        done = run_gradstep(arguments, tmp_path)
        return done.returncode, done.stdout

    for options in ([], ["--call", "all"]):
        code, said = run("check", *options, "train.py")
        assert code == 0, said
        assert "the end" in said
    assert "warning" not in said
    code, said = run("why", "train.py", "model.0.weight")
    assert code == 0
    assert "0/t:1 -> #12 0.weight" in " ".join(said.split())
    assert "will not change" not in said


FREEING = """
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    data = torch.randn(3, 4)
    loss = model(data).square().mean()
    loss.backward()
    for each in (data, *model.parameters(), *(p.grad for p in model.parameters())):
        each.untyped_storage().resize_(0)
    print("all is freed")
    """


@pytest.mark.parametrize(
    "command",
    [
        "render --call last -o graph.json train.py",
        "film --call last -o film.html train.py",
        "check --call last train.py",
        "check --all --call last train.py",
        "why train.py 0.weight",
        "debug --batch --fail-on nan train.py",
        "debug --batch --certify train.py",
        "debug --batch -x commands train.py",
    ],
)
def test_a_program_may_free_its_memory_after_it_was_looked_at(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    script(textwrap.dedent(FREEING))
    Path("commands").write_text("print 0.weight\ncontinue\ninfo leaves\n")
    main(command.split())
    assert "all is freed\n" in capsys.readouterr().out


def test_workers_of_a_data_loader_are_left_alone(tmp_path: Path) -> None:
    code = """
        import torch
        class Data(torch.utils.data.Dataset):
            def __len__(self):
                return 2
            def __getitem__(self, index):
                x = torch.tensor(float(index), requires_grad=True)
                x.exp().backward()
                return x.grad
        for batch in torch.utils.data.DataLoader(Data(), num_workers=1):
            w = torch.ones(1, requires_grad=True)
            (w * batch).sum().backward()
        """
    (tmp_path / "train.py").write_text(textwrap.dedent(code), "utf-8")
    # in a process of its own: PyTorch refuses to fork one in which its engine had several threads
    done = run_gradstep(["render", "-o", "picture.txt", "train.py"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "gradstep: wrote picture.txt\n")
    picture = (tmp_path / "picture.txt").read_text("utf-8")
    assert "mul" in picture
    assert "ExpBackward0" not in picture


SCRIPT = """
    import sys, torch
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    for _ in range(int(sys.argv[1])):
        model(torch.ones(2, 3)).mean().backward()
    """


def named_leaves(graph: Graph) -> set[str]:
    return {
        graph.variables[id]
        for id, kind in enumerate(graph.kinds)
        if kind == "parameter" and graph.halves[id] == "forward"
    }


def test_in_a_notebook_a_model_is_drawn_with_its_inputs_and_a_loss_as_it_is() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())
    graph = from_json(str(gradstep.render(model, inputs=torch.ones(2, 3), format="json")))
    assert named_leaves(graph) == {"0.weight", "0.bias"}
    assert "0" in graph.scopes
    loss = model(torch.ones(2, 3)).sum()
    assert "relu" in str(gradstep.render(loss, format="txt"))
    loss.backward()  # nothing was freed
    assert model[0].weight.grad is not None


SNIPPET = """\
import torch
x = torch.ones(3, requires_grad=True)
loss = x.sigmoid().sum()
"""


def test_a_snippet_in_markdown_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    superfences = "pymdownx.superfences"
    pytest.importorskip(superfences, reason="pymdownx is not installed (the extra 'docs' has it)")
    markdown = importlib.import_module("markdown")
    ours = importlib.import_module("gradstep_viz.markdown")
    monkeypatch.chdir(tmp_path)
    fence = {"name": "autograd-graph", "class": "", "validator": ours.validate,
             "format": ours.format}  # fmt: skip
    page = markdown.markdown(
        f"```autograd-graph\n{SNIPPET}```\n",
        extensions=[superfences],
        extension_configs={superfences: {"custom_fences": [fence]}},
    )
    assert "SigmoidBackward0" in page


def test_a_snippet_in_a_sphinx_document_is_drawn(tmp_path: Path) -> None:
    build = pytest.importorskip(
        "sphinx.cmd.build", reason="Sphinx is not installed (the extra 'docs' has it)"
    )
    docutils = importlib.import_module("sphinx.util.docutils")
    (tmp_path / "conf.py").write_text('extensions = ["gradstep.sphinx"]\nhtml_theme = "basic"\n')
    indented = textwrap.indent(SNIPPET, "   ")
    (tmp_path / "index.rst").write_text(f"Title\n=====\n\n.. autograd-graph::\n\n{indented}")
    with docutils.docutils_namespace():
        assert build.build_main(["-q", "-W", str(tmp_path), str(tmp_path / "out")]) == 0
    drawn = [each.read_text("utf-8") for each in (tmp_path / "out").rglob("*.svg")]
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert "SigmoidBackward0" in "".join([page, *drawn])


@pytest.mark.slow
def test_a_script_under_torchrun_is_intercepted(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(textwrap.dedent(SCRIPT), "utf-8")
    command = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--no-python",
        "--nproc-per-node=1", sys.executable, "-m", "gradstep", "render", "train.py", "1",
    ]  # fmt: skip
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done: Any = subprocess.run(command, cwd=tmp_path, env=here, capture_output=True, text=True)
    assert (done.returncode, re.search("gradstep: wrote .*", done.stderr)) != (0, None)
    assert (tmp_path / "train.svg").is_file()


EDGES = """
    import torch
    from torch.autograd.graph import get_gradient_edge

    w = torch.ones(3, requires_grad=True)
    for _ in range(2):
        edge = get_gradient_edge((w * 2).exp())
        torch.autograd.backward([edge], [torch.ones(3)])
        edge = get_gradient_edge((w * 3).exp())
        torch.autograd.grad((edge,), w, (torch.ones(3),))
    """


@pytest.mark.parametrize("command", ["record", "record --values all", "check"])
def test_gradient_edges_are_roots(command: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(textwrap.dedent(EDGES), "utf-8")
    done = run_gradstep([*command.split(), "train.py"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "not shown" not in done.stderr
