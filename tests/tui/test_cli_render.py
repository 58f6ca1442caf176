"""``gradstep render``: what it draws, what it says, and how it leaves the process."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from gradstep_tui.cli import main
from tests.both import on_the_core
from tests.tui.conftest import Ended, Gradstep

ROOT = Path(__file__).parents[2]

SQUARE = """\
import LIBRARY as torch

a = torch.tensor(3.0, requires_grad=True)
loss = a * a
loss.backward()
"""

ON_CORE = SQUARE.replace("LIBRARY", "autograd_core")
Run = Callable[..., Ended]


@pytest.fixture
def run(gradstep: Gradstep) -> Run:
    """Render ``script``, and return what came of it."""

    def command(script: str, *arguments: str) -> Ended:
        ended = gradstep(script, "render", *(arguments or ("-o", "out.txt", "train.py")))
        assert not [name for name in os.listdir() if name.endswith(".part")]
        return ended

    return command


# what is drawn


def test_a_script_is_drawn_at_its_first_call_and_ends_there(run: Run) -> None:
    code, out, err = run(SQUARE + "print('never said')\n", "train.py")
    assert (code, out, err) == (0, "", "gradstep: wrote train.svg\n")
    picture = Path("train.svg").read_text()
    assert picture.startswith("<svg")
    assert picture.endswith("</svg>\n")
    assert ">6<" in picture  # the gradient of a


@pytest.mark.parametrize(("call", "gradient"), [("1", 1), ("2", 2), ("last", 3), ("all", 3)])
def test_call_chooses_one_of_several(run: Run, call: str, gradient: int) -> None:
    script = """
        import LIBRARY as torch
        for n in (1, 2, 3):
            a = torch.tensor(5.0, requires_grad=True)
            loss = a * n
            loss.backward()
        print("the end")
    """
    code, out, err = run(script, "--call", call, "-o", "out.txt", "train.py")
    assert code == 0, err
    assert out == ("the end\n" if call in ("last", "all") else "")
    said = "3 calls were selected; this is the last one, call 3"
    assert (said in err) == (call == "all")
    assert re.search(rf"a\.grad +{gradient} ", Path("out.txt").read_text())


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "hook",
    [
        "",
        "y.register_hook(lambda g: g * 2)",
        "y.grad_fn.register_prehook(lambda g: (g[0] * 2,))",
        "y.grad_fn.register_prehook(lambda g: (n and net[2].bias.grad.add_(1), None)[1])",
    ],
)
@pytest.mark.parametrize(
    "after",
    [
        "opt.zero_grad(set_to_none=False)",
        "torch.nn.utils.clip_grad_norm_(net.parameters(), 1e-3); opt.step()",
        "gradient.fill_(7); y.detach_(); x.zero_()",
        "net.double(); net[0].weight.data = torch.ones(5, 2)",
        "del net, x, y",
    ],
)
def test_the_last_call_is_drawn_as_it_was_then(run: Run, after: str, hook: str) -> None:
    script = f"""
        import LIBRARY as torch
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
        opt = torch.optim.SGD(net.parameters(), 0.1)
        gradient = torch.ones(4, 1)
        for n in range(3):
            x = torch.randn(4, 2)
            y = net(x)
            {hook}
            y.backward(gradient)
            if n < 2:
                opt.step()
        {after}
    """
    drawn: list[str] = []
    for call in ("3", "last"):
        code, _, err = run(script, "--call", call, "-o", "out.txt", "train.py")
        assert code == 0, err
        drawn.append(Path("out.txt").read_text())
    assert drawn[0] == drawn[1]
    assert "2.bias" in drawn[0]


def test_a_script_without_a_call_is_drawn_at_its_end(run: Run) -> None:
    code, _, err = run(SQUARE.replace("loss.backward()", "print('the end')"))
    assert code == 0, err
    assert Path("out.txt").read_text().startswith("loss = a * a\n")


@pytest.mark.parametrize("view", ["forward", "backward"])
def test_a_view_leaves_the_other_half_out(run: Run, view: str) -> None:
    assert run(SQUARE, "--view", view, "-o", "out.txt", "train.py")[0] == 0
    picture = Path("out.txt").read_text()
    assert ("MulBackward0" in picture) == (view == "backward")


def test_a_graph_that_was_freed_is_drawn_as_such(run: Run) -> None:
    code, _, err = run(SQUARE, "train.py:loss", "-o", "out.json")
    assert code == 0, err
    states = [
        value["state"]
        for node in json.loads(Path("out.json").read_text())["nodes"]
        for value in node.get("saved", [])
    ]
    assert states
    assert set(states) == {"freed"}


@pytest.mark.parametrize(
    ("call", "seed"),
    [
        ("torch.autograd.backward([loss, a + 1])", "∂loss/∂loss"),
        ("loss.backward(torch.tensor(7.0))", "7"),
        ("(a * torch.ones(2)).backward(torch.ones(2))", "∂output/∂output"),
    ],
)
def test_several_roots_and_gradients_of_the_users_own(run: Run, call: str, seed: str) -> None:
    code, _, err = run(SQUARE.replace("loss.backward()", call))
    assert code == 0, err
    assert seed in Path("out.txt").read_text().partition("backward")[2]


def test_a_call_inside_no_grad_is_a_call(run: Run) -> None:
    script = SQUARE.replace("loss.backward()", "with torch.no_grad():\n    loss.backward()")
    assert run(script)[0] == 0
    assert "MulBackward0" in Path("out.txt").read_text()


def test_a_call_within_a_hook_does_not_count(run: Run) -> None:
    script = """
        import LIBRARY as torch
        b = torch.tensor(1.0, requires_grad=True)
        def hook(g):
            with torch.enable_grad():
                (b * b * b).backward()
        for n in (1, 2):
            a = torch.tensor(5.0, requires_grad=True)
            loss = a * n
            loss.register_hook(hook)
            loss.backward()
    """
    code, _, err = run(script, "--call", "2", "-o", "out.txt", "train.py")
    assert code == 0, err
    assert "a.grad" in Path("out.txt").read_text()


def test_what_the_script_makes_of_its_end_changes_nothing(run: Run) -> None:
    script = """
        import LIBRARY as torch
        a = torch.tensor(5.0, requires_grad=True)
        for n in (1, 2):
            try:
                (a * n).backward()
            except BaseException as ending:
                print(type(ending).__name__)
        raise SystemExit("nothing worked")
    """
    code, out, err = run(script)
    assert (code, out, err) == (0, "ScriptDone\nScriptDone\n", "gradstep: wrote out.txt\n")


# a script is run as Python runs it


def test_arguments_reach_the_script_and_options_reach_us(run: Run) -> None:
    script = """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("data")
        parser.add_argument("--epochs", type=int)
        parser.add_argument("-v", action="store_true")
        parser.add_argument("--view")
        print(parser.parse_args())
    """
    script = dedent(script) + SQUARE
    command = ["--view", "forward", "-o", "out.txt", "train.py", "data.csv", "--epochs", "3", "-v"]
    code, out, err = run(script, *command, "--view", "mine")
    assert code == 0, err
    assert out == "Namespace(data='data.csv', epochs=3, v=True, view='mine')\n"
    assert err.startswith("gradstep: --view goes to train.py; options of gradstep go before it")
    assert "MulBackward0" not in Path("out.txt").read_text()


def test_a_script_that_reports_wrong_arguments_fails(run: Run) -> None:
    script = "import argparse\nargparse.ArgumentParser('mine').parse_args()"
    code, _, err = run(script, "train.py", "--frobnicate")
    assert code == 2
    assert "mine: error: unrecognized arguments: --frobnicate" in err


def test_main_is_the_script(run: Run) -> None:
    script = """
        import pickle, sys
        from dataclasses import dataclass
        from pathlib import Path
        import neighbour
        import LIBRARY as torch

        @dataclass
        class Config:
            rate: "float" = 3.0

        if __name__ == "__main__":
            assert Path(__file__) == Path.cwd() / "train.py"
            assert sys.argv == ["train.py"] and sys.path[0] == str(Path.cwd())
            assert sys.modules["__main__"].Config is Config
            config = pickle.loads(pickle.dumps(Config()))
            loss = neighbour.double(torch.tensor(config.rate, requires_grad=True))
            loss.backward()
    """
    Path("neighbour.py").write_text("def double(x):\n    return x * 2\n")
    code, _, err = run(script, "-o", "out.json", "train.py")
    assert code == 0, err
    assert '"source": ["neighbour.py", 2]' in Path("out.json").read_text()


def test_sources_are_named_as_seen_from_the_script(run: Run) -> None:
    Path("folder").mkdir()
    Path("folder/train.py").write_text(ON_CORE)
    Path("folder/quiet.py").write_text(ON_CORE.replace("loss.backward()", ""))
    for target in ("train.py", "quiet.py", "train.py:loss"):
        code, _, err = run("", "-o", "out.json", f"folder/{target}")
        assert code == 0, err
        file = target.partition(":")[0]
        assert f'"source": ["{file}", 4]' in Path("out.json").read_text()


def test_modules_of_the_scripts_own_may_be_called_as_ours(run: Run) -> None:
    for name in ("viz", "tui"):
        Path(f"{name}.py").write_text(f"name = 'my own {name}'\n")
    code, out, err = run("import viz, tui\nprint(viz.name, tui.name)\n" + SQUARE)
    assert (code, out) == (0, "my own viz my own tui\n"), err


def test_ours_are_to_be_had_as_well(run: Run) -> None:
    script = SQUARE.replace("loss.backward()", "import gradstep\ngradstep.render(loss, 'own.svg')")
    code, _, err = run(script)
    assert code == 0, err
    assert Path("own.svg").exists()


def test_the_output_is_where_it_was_named_wherever_the_script_goes(run: Run) -> None:
    Path("elsewhere").mkdir()
    assert run("import os\nos.chdir('elsewhere')\n" + SQUARE)[0] == 0
    assert os.listdir() == []
    assert Path("../out.txt").exists()


def test_a_script_that_is_strict_does_not_disturb_the_drawing(run: Run) -> None:
    script = """
        import warnings
        import numpy as np
        import LIBRARY as torch
        np.seterr(all="raise")
        warnings.simplefilter("error")
        a = torch.tensor([1e30, 1e-30, 0.0], requires_grad=True)
        (a * 2.0).sum().backward()
    """
    code, _, err = run(script, "-o", "out.svg", "train.py")
    assert code == 0, err


def test_the_process_is_left_as_it_was(run: Run) -> None:
    def state() -> tuple[object, ...]:
        signals = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)]
        modules = {n: m for n, m in sys.modules.items() if n.startswith("gradstep_")}
        return (
            sys.argv, sys.argv[:], id(sys.path), sys.path[:], sys.modules["__main__"],
            np.geterr(), sys.getrecursionlimit(), warnings.filters[:], signals, modules,
            sys.stdout, sys.stderr, sys.modules.get("train"),
        )  # fmt: skip

    script = """
        import sys, warnings
        import numpy as np
        sys.argv.append("more")
        sys.path = ["nowhere", *sys.path]
        sys.modules["__main__"] = sys
        np.seterr(under="print")
        warnings.simplefilter("ignore")
    """
    main(["render", "nothing.py"])
    import gradstep_tui.commands.render  # noqa: F401  # as the first command does

    before = state()
    for ending in (SQUARE, "raise ValueError", "raise SystemExit(4)", "x = 1"):
        for target in ("train.py", "train.py:loss"):
            run(dedent(script) + dedent(ending), target, "-o", "out.svg")
            assert state() == before


# standard output


def test_standard_output_carries_the_picture_and_nothing_else(run: Run) -> None:
    noise = "import os\nprint('from Python')\nos.system('echo from a child')\n"
    code, out, err = run(noise + SQUARE, "-o", "-", "--format", "json", "train.py")
    assert code == 0
    assert len(json.loads(out)["nodes"]) > 3
    assert sorted(err.split("\n")) == ["", "from Python", "from a child"]


def test_svg_is_the_format_of_standard_output(run: Run) -> None:
    code, out, _ = run(SQUARE, "-o", "-", "train.py")
    assert code == 0
    assert out.startswith("<svg")


def test_a_reader_that_has_had_enough_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(ON_CORE)
    command = (
        f"{sys.executable} -m gradstep render -o - train.py | head -c 1; exit ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"<", b"")


# what can be wrong with the script


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("", 3, "gradstep: the script ended without calling backward() in its main thread"),
        ("\ufeffx = 1", 3, "gradstep: the script ended without"),
        ("import sys; sys.exit(0)", 3, "gradstep: the script ended without"),
        ("import sys; sys.exit(3)", 3, "gradstep: the script ended with exit code 3"),
        ("import sys; sys.exit('no data')", 1, "no data\n"),
        ("from . import neighbour", 1, "ImportError: attempted relative import"),
        ("class Odd(BaseException): pass\nraise Odd('out')", 1, "Odd: out"),
    ],
)
def test_how_a_script_may_end(run: Run, script: str, code: int, said: str) -> None:
    found, _, err = run(script)
    assert (found, said in err) == (code, True), err
    assert not Path("out.txt").exists()


def test_a_script_that_raises_sees_its_own_frames_only(run: Run) -> None:
    script = """\
        import LIBRARY as torch

        def reshape(x):
            try:
                return x.reshape(3, 7)
            except RuntimeError as error:
                raise ValueError("cannot") from error

        reshape(torch.ones(2))
    """
    code, out, err = run(script)
    assert (code, out) == (1, "")
    lines = [line for line in err.splitlines() if line.startswith("  File")]
    here = Path.cwd() / "train.py"
    assert lines == [
        f'  File "{here}", line {number}, in {name}'
        for number, name in ((5, "reshape"), (9, "<module>"), (7, "reshape"))
    ]
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith("ValueError: cannot\n")


def test_anomaly_mode_shows_the_frames_of_the_script_only(run: Run) -> None:
    script = """
        import LIBRARY as torch
        x = torch.tensor(0.0, requires_grad=True)
        with torch.autograd.set_detect_anomaly(True):
            x.sqrt().mul(0).backward()
    """
    with pytest.warns(UserWarning, match="Error detected in SqrtBackward0") as told:
        code, _, _ = run(script, "--call", "2", "train.py")
    assert code == 1
    said = str(told[0].message)
    assert said.count("  File ") == said.count("train.py") == 1


def test_frames_of_ours_are_cut_from_groups_too(run: Run) -> None:
    script = """
        import LIBRARY as torch
        try:
            torch.ones(2).reshape(3, 7)
        except RuntimeError as error:
            raise ExceptionGroup("several", [error]) from None
    """
    code, _, err = run(script)
    assert code == 1
    assert "RuntimeError: shape '[3, 7]' is invalid" in err
    assert err.count("  File ") == err.count("train.py") == 2


def test_an_error_inside_backward_is_the_scripts(run: Run) -> None:
    script = """
        import LIBRARY as torch
        a = torch.tensor(5.0, requires_grad=True)
        def hook(g):
            raise KeyError("in the hook")
        loss = a * a
        loss.register_hook(hook)
        loss.backward()
    """
    code, _, err = run(script)
    assert code == 1
    assert "KeyError: 'in the hook'" in err
    code, _, err = run(SQUARE + "loss.backward()\n", "--call", "2", "-o", "out.txt", "train.py")
    assert code == 1
    assert "backward through the graph a second time" in err
    assert "train.py" in err
    assert not Path("out.txt").exists()


def test_a_syntax_error_is_shown_as_python_shows_it(run: Run) -> None:
    code, _, err = run("x = 1\ndef f(:\n")
    assert code == 1
    assert err.startswith(f'  File "{Path.cwd() / "train.py"}", line 2\n    def f(:\n')
    assert err.endswith("SyntaxError: invalid syntax\n")


@pytest.mark.parametrize("data", [b'x = "\xe9"\n', b"x = 1\0\n"])
def test_a_file_that_is_no_text_is_a_syntax_error(run: Run, data: bytes) -> None:
    Path("other.py").write_bytes(data)
    code, _, err = run("", "other.py")
    assert code == 1
    assert "Error: " in err
    assert "Traceback" not in err


def test_calls_in_other_threads_are_not_seen_and_said_to_be(
    run: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    script = SQUARE.replace(
        "loss.backward()",
        "import threading\n"
        "def work():\n    (a * 0).backward()\n    loss.backward()\n"
        "thread = threading.Thread(target=work, name='trainer')\n"
        "thread.start(); thread.join()\nassert a.grad.item() == 6\ndel loss",
    )
    code, _, err = run(script)
    assert code == 3
    said = "gradstep: backward() in the thread 'trainer' is not followed, only in the main thread"
    assert err.count(said) == err.count("is not followed") == 1
    assert "without calling backward() in its main thread" in err
    assert main(["record", "-o", "run.gsr", "train.py"]) == 0
    assert "neither backward() nor autograd.grad() in its main thread" in capfd.readouterr().err


def test_a_graph_that_a_call_in_another_thread_freed_is_no_call_to_name(
    gradstep: Gradstep,
) -> None:
    thread = "import threading\nt = threading.Thread(target=loss.backward)\nt.start(); t.join()"
    code, _, err = gradstep(SQUARE.replace("loss.backward()", thread), "check", "train.py")
    assert code == 3
    assert "without calling backward() in its main thread, and a call in another one" in err
    assert "--call" not in err


def test_ctrl_c_ends_the_command_quietly(run: Run) -> None:
    code, _, err = run("raise KeyboardInterrupt")
    assert (code, err) == (130, "gradstep: interrupted\n")


# what can be wrong with the command line


@pytest.mark.sampled(torch=4)
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["-o", "nowhere/x.svg", "train.py"], 2, "there is no directory nowhere; create it"),
        (["-o", "folder.svg", "train.py"], 2, "it is a directory; name a file in it"),
        (["-o", "x.xyz", "train.py"], 2, "cannot tell the format from the name 'x.xyz'; use"),
        (["-o", "x.svg", "--format", "dot", "train.py"], 2, "but dot was asked for; name it"),
        (["--format", "svgg", "train.py"], 2, "invalid choice: 'svgg'"),
        (["--view", "sideways", "train.py"], 2, "invalid choice: 'sideways'"),
        (["--call", "0", "train.py"], 2, "--call 0: a call is a positive integer, last"),
        (["--call", "x", "train.py"], 2, "--call x: a call is a positive integer, last"),
        (["--veiw", "both", "train.py"], 2, "there is no option --veiw, did you mean --view?"),
        (["trin.py"], 3, "trin.py does not exist; did you mean train.py?"),
        (["--call", "2", "train.py"], 3, "backward() once: there is no call 2; omit --call"),
        (["train.py:loss", "--view", "forward", "--call", "last"], 0, "wrote train-loss.svg"),
    ],
)
def test_one_clear_message_and_the_documented_code(
    run: Run, arguments: list[str], code: int, said: str
) -> None:
    Path("folder.svg").mkdir()
    found, out, err = run(SQUARE, *arguments)
    assert found == code
    assert out == ""
    assert err.startswith("gradstep: ")
    assert err.count("\n") == 1
    assert said in err
    files = ["folder.svg", "train.py", *(["train-loss.svg"] if code == 0 else [])]
    assert sorted(os.listdir()) == sorted(files)


def test_what_is_known_to_fail_fails_before_the_script_runs(run: Run) -> None:
    for output in ("nowhere/x.svg", "x.xyz"):
        code, out, _ = run("print('minutes of work')\n" + SQUARE, "-o", output, "train.py")
        assert (code, out) == (2, "")


def test_a_format_that_nothing_here_makes_has_a_code_of_its_own(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradstep_viz.rendering.default_renderers", list)  # whatever is installed
    code, _, err = run(SQUARE, "-o", "x.png", "train.py")
    assert code == 4
    assert err == "gradstep: no renderer on this machine can make PNG; draw an SVG\n"
    assert not Path("x.png").exists()


@pytest.mark.sampled(torch=4)
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("-o out.txt --format=dot", "-o, --format go to train.py; options of gradstep go"),
        ("--help", "--help goes to train.py; options of gradstep go before it"),
        ("-m adam --depth-of-net 3 --fromat", ""),
        ("-- --view both", ""),
        ("- --", ""),
    ],
)
@pytest.mark.parametrize("target", ["train.py", "-m train", "-mtrain"])
def test_what_follows_a_script_is_the_scripts(run: Run, given: str, told: str, target: str) -> None:
    script = "import sys; print(*sys.argv[1:])\n" + SQUARE
    code, out, err = run(script, "--format", "txt", *target.split(), *given.split())
    assert (code, out) == (0, f"{given}\n"), err
    name = "train" if target.startswith("-m") else "train.py"
    note = f"gradstep: {told.replace('train.py', name)}"
    assert err.startswith(note if told else "gradstep: wrote train.txt\n")
    assert Path("train.txt").exists()


@pytest.mark.sampled(torch=3)
@pytest.mark.parametrize("given", ["-o out.txt --format=dot", "--help", "-- --view both"])
@pytest.mark.parametrize("target", ["train.py", "-m train", "-mtrain"])
def test_what_follows_two_dashes_and_a_script_is_the_scripts_without_question(
    run: Run, given: str, target: str
) -> None:
    script = "import sys; print(sys.argv[1:])\n" + SQUARE
    code, out, err = run(script, "--format", "txt", "--", *target.split(), *given.split())
    assert (code, out) == (0, f"{given.split()}\n"), err
    assert err == "gradstep: wrote train.txt\n"


@pytest.mark.sampled(torch=4)
@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("train.py -o 'my net.svg'", "render -o 'my net.svg' train.py"),
        ("train.py --output=net.svg", "render -o net.svg train.py"),
        ("train.py --output net.svg 3", "render -o net.svg train.py 3"),
        ("--format dot train.py a -o n.dot b", "render --format dot -o n.dot train.py a b"),
        (
            "train.py --view=both --full -- --view x",
            "render --view=both --full train.py -- --view x",
        ),
        ("train.py --epochs 3 --call 2", "render --call 2 train.py --epochs 3"),
        ("train.py -o", "render -o FILE train.py"),
        ("train.py -o x.svg --help", "render --help"),
        ("train.py -h", "render --help"),
        ("-m train -o net.svg", "render -o net.svg -m train"),
        ("-mtrain -o net.svg", "render -o net.svg -m train"),
    ],
)
def test_an_option_that_a_script_does_not_take_is_ours_and_stands_before_it(
    run: Run, given: str, right: str
) -> None:
    code, out, err = run("print('ran')\n" + SQUARE, *shlex.split(given))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith(f"gradstep: {'train.py' if 'train.py' in given else 'train'} takes no ")
    corrected, _, others = err.partition("go before it: ")[2].partition("; to give ")
    assert corrected == f"gradstep {right}"
    passed_on = others.partition("all the same: ")[2].strip()
    if "-o" in shlex.split(right)[:-1] and "FILE" not in right:
        assert run(SQUARE, *shlex.split(corrected)[2:]).code == 0
    code, out, err = run("print('ran')\n" + SQUARE, *shlex.split(passed_on)[2:])
    assert (code, out) == (0, "ran\n"), err


def test_options_may_follow_what_is_no_script(run: Run) -> None:
    script = "import sys; print(*sys.argv[1:])\n" + SQUARE
    code, out, err = run(script, "train.py:a", "x", "--format", "txt", "--", "--format", "y")
    assert (code, out, err) == (0, "x --format y\n", "gradstep: wrote train-a.txt\n")
    code, _, err = run(script, "train.py:a", "--epochs")
    assert code == 2
    assert "there is no option --epochs, put arguments for TARGET after --" in err


def test_what_is_written_to_is_kept_when_it_is_no_file_of_its_own(run: Run) -> None:
    Path("behind.svg").touch()
    Path("link.svg").symlink_to("behind.svg")
    os.mkfifo("pipe.svg")
    reader = os.open("pipe.svg", os.O_RDONLY | os.O_NONBLOCK)
    try:
        for name in ("link.svg", "pipe.svg"):
            code, _, err = run(SQUARE, "-o", name, "train.py")
            assert code == 0, err
        assert os.read(reader, 4) == b"<svg"
    finally:
        os.close(reader)
    assert Path("link.svg").is_symlink()
    assert Path("behind.svg").read_text().startswith("<svg")


@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write anything")
def test_a_file_that_is_read_only_stays(run: Run) -> None:
    Path("kept.svg").touch(mode=0o444)
    code, _, err = run(SQUARE, "-o", "kept.svg", "train.py")
    assert code == 2
    assert "it is read-only" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--"], "unrecognized arguments: --"),
        (["rendr"], "there is no command 'rendr', did you mean render?"),
        (["train.py"], "no command given for train.py."),
        (["--frobnicate"], "unrecognized arguments: --frobnicate"),
        (["render"], "render: name a TARGET; gradstep render --help shows"),
    ],
)
def test_a_command_line_without_a_command(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gradstep: ")
    assert said in err


def test_without_a_command_it_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr()
    assert main(["--help"]) == 0
    assert shown == capsys.readouterr()


@pytest.mark.parametrize("command", [[], ["render"], ["debug"]])
def test_help_fits_a_terminal_and_names_every_option(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main([*command, "--help"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) < 80
    assert "examples:" in text
    readme = (ROOT / "README.md").read_text("utf-8")
    for code in ("0 success", "2 wrong usage", "5 a check found something"):
        assert command or code in text
    assert not command or f"gradstep {command[0]}" in readme


def test_the_version_is_that_of_the_installed_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert re.fullmatch(r"gradstep (\d+\.\d+\S*|\(not installed\))\n", capsys.readouterr().out)


# in a process of its own


def test_every_byte_is_the_same_wherever_and_whenever(tmp_path: Path) -> None:
    program = """\
        import neighbour
        import autograd_core as torch
        linear = torch.nn.Linear(2, 2)
        x = torch.ones(1, 2)
        for p in linear.parameters():
            p.data = torch.ones(p.shape)
        loss = neighbour.half(linear(x)).sum()
        loss.backward()
    """
    pictures = set()
    for place, seed in ((tmp_path / "one" / "deep", "1"), (tmp_path / "other", "2")):
        place.mkdir(parents=True)
        (place / "train.py").write_text(dedent(program))
        (place / "neighbour.py").write_text("def half(x):\n    return x / 2\n")
        folder, script = (place, "train.py") if seed == "1" else (tmp_path, "other/train.py")
        commands = "; ".join(
            f"main(['render', '-o', '-', '--format', {name!r}, {script!r}])"
            for name in ("svg", "dot", "json", "html", "mermaid", "txt")
        )
        done = subprocess.run(
            [sys.executable, "-c", f"from gradstep_tui.cli import main; {commands}"], cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            capture_output=True, check=True,
        )  # fmt: skip
        assert done.stderr == b""
        pictures.add(done.stdout)
    assert len(pictures) == 1
    (picture,) = pictures
    assert b'["neighbour.py", 2]' in picture
    for trace in (str(tmp_path), str(ROOT), " at 0x"):
        assert trace.encode() not in picture


def test_drawing_imports_neither_textual_nor_scipy(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(ON_CORE)
    program = (
        "import sys; from gradstep_tui.cli import main; code = main(['render', 'train.py'])\n"
        "sys.exit(code or ', '.join({'textual', 'rich', 'scipy', 'asyncio'} & {*sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.stderr.decode() == "gradstep: wrote train.svg\n\n"


BLOCKS = """
    import LIBRARY as torch
    from gradstep import scope

    w = torch.ones(3, requires_grad=True)
    h = w
    for number in range(30):
        with scope(f"blocks.{number}"):
            h = (h * w).sin() + h
    loss = h.sum()
    loss.backward()
"""


@on_the_core
def test_a_large_graph_is_folded_and_opened_by_options(run: Run) -> None:
    def caption(*options: str) -> str:
        code, out, err = run(BLOCKS, "-o", "-", "--format", "txt", *options, "train.py")
        assert (code, err) == (0, "")
        return out

    whole = caption()
    assert "forward ↓ · 91 ops shown as 5, 1 leaf" in whole
    assert re.search(r"blocks\.1 … 29 +× 29 +like blocks\.0 · \[3\] → same · 87 ops", whole)
    assert "blocks.0 … 2 " in caption("--expand", "blocks.3")
    assert "91 ops, 1 leaf" in caption("--full")
    closed = caption("--depth", "1")
    assert "91 ops shown as 2," in closed
    assert "[w [3] · used 32 times]" in closed
    near = caption("--around", "blocks.3/sin:1", "--hops", "1")
    assert "forward ↓ · 3 of 91 ops · around blocks.3/sin:1\n" in near
    assert "blocks.28" not in caption("--path", "w..blocks.5/sin:1", "--full")


@on_the_core
def test_a_node_that_does_not_exist_is_answered_with_those_that_do(run: Run) -> None:
    for option in (["--around", "blocks.3/sim:1"], ["--path", "loss..blocks.3/sim:1"]):
        code, out, err = run(BLOCKS, *option, "train.py")
        assert (code, out) == (2, "")
        assert "nothing here is called 'blocks.3/sim:1'; did you mean blocks.3/sin:1" in err
    code, _, err = run(BLOCKS, "--expand", "block.3", "train.py")
    assert code == 2
    assert "did you mean blocks.3" in err
    assert run(BLOCKS, "--full", "--depth", "2", "train.py")[0] == 2
    assert run(BLOCKS, "--hops", "2", "train.py")[0] == 2


DEEP = """
import LIBRARY as torch
x = torch.tensor(2.0, requires_grad=True)
y = x
for _ in range(6):
    y = y * 0.1
y.backward()
"""


def test_boxes_lead_to_the_script_wherever_it_lies(run: Run, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "er.py").write_text(DEEP.replace("LIBRARY", "autograd_core"))
    options = ("--format", "svg", "-o", "-", "--view", "backward")
    code, out, _ = run("", "--link", "vscode://file/{path}:{line}", *options, "deep/er.py")
    assert code == 0
    assert f'href="vscode://file{(tmp_path / "deep" / "er.py").resolve()}:6"' in out
    code, out, err = run("", "--link", "javascript:{path}", *options, "deep/er.py")
    assert (code, out) == (2, "")
    assert "may not begin with javascript:" in err


def test_magnitudes_and_the_legend_are_options(run: Run) -> None:
    def picture(*options: str) -> str:
        return run(DEEP, "--view", "backward", "-o", "-", *options, "train.py")[1]

    assert "rms ▄ 1e−6 … ▄▄▄▄ 1" in picture()
    assert "▄" not in picture("--no-magnitude")
    assert 'class="legend"' not in picture()
    assert "▄ rms 1e−6 …" in picture("--legend")


def test_a_profile_of_the_script_stands_in_the_boxes(run: Run) -> None:
    code, _, _ = run(SQUARE, "--profile", "-o", "out.txt", "train.py")
    text = Path("out.txt").read_text()
    assert code == 0
    assert re.search(r"MulBackward0 +#1  [\d.]+ (µs|ms), 8 B · g · a, g · a", text)
    assert text.count(" · took ") >= 1


def test_a_module_is_run_as_python_m_does(run: Run) -> None:
    Path("package_to_train").mkdir()
    Path("package_to_train/__init__.py").touch()
    Path("package_to_train/train.py").write_text("""\
import sys
from train import torch
x = torch.tensor(float(sys.argv[2]), requires_grad=True)
for _ in range(2):
    (x * x).backward()
""")
    library = "import LIBRARY as torch\n"
    options = ("--view", "backward", "--call", "2", "-o", "out.txt")
    assert run(library, *options, "-m", "package_to_train.train", "--at", "3").code == 0
    assert "MulBackward0" in Path("out.txt").read_text()
    code, _, err = run(library, "-m", "package_to_train.lost")
    assert code == 3
    assert "there is no module package_to_train.lost" in err


def test_a_dash_m_behind_target_belongs_to_the_script(run: Run) -> None:
    script = f"import sys\nassert sys.argv[1:] == ['-m', 'adam']\n{SQUARE}"
    assert run(script, "train.py", "-m", "adam").code == 0


def test_values_of_the_forward_pass_are_shown_on_request(run: Run) -> None:
    script = """\
        import LIBRARY as torch

        a = torch.tensor([1.0, 2.0], requires_grad=True)
        loss = torch.exp(a).sum()
        loss.backward()
        """
    run(script, "-o", "out.txt", "train.py")
    assert re.search(r"^  exp +← a", Path("out.txt").read_text(), re.MULTILINE)
    run(script, "--values", "-o", "out.txt", "train.py")
    assert re.search(r"^  exp +rms 5\.57 ", Path("out.txt").read_text(), re.MULTILINE)


def test_a_mistake_of_ours_is_not_told_as_one_of_the_program(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise KeyError("ours")

    monkeypatch.setattr("gradstep_tui.commands.render.render_graph", broken)
    with pytest.raises(KeyError, match="ours"):
        run(SQUARE)


def test_ops_of_modules_in_plain_lists_stand_in_their_own_scopes(run: Run) -> None:
    script = """\
import LIBRARY as torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [torch.nn.Tanh(), torch.nn.Sequential(torch.nn.Tanh())]
        self.by_name = {"end": torch.nn.Tanh()}

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        self.layers = self.layers[::-1]
        return self.by_name["end"](x)

net = Net()
x = torch.ones(2, requires_grad=True)
net(net(x)).sum().backward()
"""
    run(script, "--full", "-o", "net.json", "train.py")
    graph = json.loads(Path("net.json").read_text())
    found = {node["scope"] for node in graph["nodes"] if "scope" in node}
    assert found == {"by_name['end']", "layers[0]", "layers[0].0", "layers[1]", "layers[1].0"}
    assert dict(graph["modules"])["by_name['end']"] == "Tanh"
