"""Each sentence of ``docs/security.rst`` is held by a test."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import autograd_core as torch
from gradstep.recording.reading import FileRun
from gradstep_viz import render

ROOT = Path(__file__).parents[2]
TEXT = re.sub(r"\s+", " ", (ROOT / "docs" / "security.rst").read_text("utf-8"))
HELD_BY: Final = {
    "gradstep runs the script that you name, as ``python`` would.": [
        "tui/test_cli_render.py::test_main_is_the_script",
        "program/test_program.py::test_a_module_runs_as_python_m_runs_it",
    ],
    "Building documents runs the programs in them (see the :ref:`warning <trust>`), and so does"
    " ``gradstep embed``.": [
        ("tui/test_embedding.py::"
        "test_pictures_are_written_and_shown_and_output_stands_in_the_text"),
        "viz/embedding/test_sphinx_builds.py::test_html_holds_the_pictures_themselves",
        "viz/embedding/test_sphinx_builds.py::test_nothing_runs_while_the_extension_is_set_up",
    ],
    "Recordings, graph files, command files, labels and conditions are data.": [
        "docs/test_security.py::test_only_programs_are_run",
        "console/test_commands.py::test_a_sourced_file_stops_at_its_first_wrong_line",
    ],
    "Nothing in them is unpickled or evaluated as Python; conditions are a small"
    " language of their own.": [
        "docs/test_security.py::test_only_programs_are_run",
        "docs/test_security.py::test_nothing_is_unpickled_and_nothing_goes_to_a_network",
        "debugger/test_predicates.py::test_python_is_no_part_of_the_language",
    ],
    "A damaged file gives an error, not a crash.": [
        "recording/test_files.py::test_a_damaged_file_is_read_or_refused",
        "viz/test_graph_json.py::test_what_is_wrong_is_said",
    ],
    "Reading a recording or a graph file of N bytes takes at most 200 MB plus 20 N of memory; a"
    " file that would take more gives an error.": [
        "recording/test_bounded_reading.py::test_what_a_file_may_take_is_bounded",
        "recording/test_bounded_reading.py::test_what_a_file_may_take_grows_with_the_file",
    ],
    "The file that you name, or one named after the program, in the current directory.": [
        "program/test_program.py::test_a_picture_is_named_after_its_target",
        "docs/test_security.py::test_nothing_is_written_beside_what_is_named",
    ],
    "It replaces an older picture from gradstep and nothing else.": [
        "tui/test_outputs.py::test_a_picture_replaces_one_of_gradsteps_and_nothing_else",
        "tui/test_outputs.py::test_what_other_commands_draw_is_replaced_by_the_same_rule",
    ],
    "An older recording is renamed.": [
        ("recording/test_kept_recordings.py::"
        "test_a_recording_that_is_there_is_renamed_and_the_user_told"),
    ],
    "Names, source lines and messages of programs are escaped in SVG, HTML, DOT, Mermaid and"
    " Markdown.": [
        "viz/test_svg_document.py::test_hostile_names_do_no_harm",
        "viz/test_svg_document.py::test_graphviz_takes_hostile_names_as_text",
        "viz/embedding/test_drawings.py::test_a_picture_in_a_page_is_named_sized_and_escaped",
    ],
    "In a terminal, control characters are shown, not sent.": [
        ("tui/test_output.py::"
        "test_no_name_of_the_program_reaches_a_stream_with_control_characters"),
    ],
    "Nothing.": [
        "docs/test_security.py::test_nothing_is_unpickled_and_nothing_goes_to_a_network",
    ],
    "Pages and pictures load nothing from the network.": [
        "docs/test_security.py::test_pages_and_pictures_load_nothing",
        "viz/test_plot_drawing.py::test_the_page_names_every_cell_and_loads_nothing",
        "viz/test_pages.py::test_a_policy_lets_no_other_script_run",
    ],
    "A recording contains source lines of the program, unless you give ``--no-source``, and with"
    " ``--values all`` its tensors: look at it before you pass it on.": [
        "docs/test_security.py::test_a_recording_contains_lines_and_tensors_as_is_said",
    ],
    "``gradstep dap --port`` accepts connections from this machine only, and prints a new secret"
    " each time.": [
        "dap/test_dap_port.py::test_it_takes_connections_from_this_machine_only",
        "dap/test_dap_port.py::test_the_secret_is_a_new_one_each_time",
    ],
    "A client with the secret can run any command.": [
        "dap/test_dap_port.py::test_editors_that_show_the_secret_are_served",
    ],
    "Without it, only ``initialize`` gets an answer.": [
        "dap/test_dap_port.py::test_nothing_else_is_answered_before_the_secret_was_shown",
    ],
    "A wrong secret, any other request, and anything that is not a message of the protocol, such"
    " as an HTTP request from a web page, end the connection.": [
        "dap/test_dap_port.py::test_a_wrong_secret_ends_the_connection",
        "dap/test_dap_port.py::test_nothing_else_is_answered_before_the_secret_was_shown",
        "dap/test_dap_port.py::test_a_web_page_is_not_heard",
    ],
    "Idle connections lock nobody out: the oldest are closed.": [
        "dap/test_dap_port.py::test_connections_that_only_wait_keep_nobody_out",
    ],
    "``gradstep dap`` without a port needs no secret, because it serves only the program that"
    " started it.": [
        "dap/test_dap_sessions.py::test_a_pass_is_stepped_through_looked_at_and_changed",
    ],
    "The program that an editor debugs is a separate process, which connects to its adapter"
    " over a local port.": [
        "dap/test_dap_port.py::test_a_program_and_its_adapter_show_each_other_a_secret",
    ],
    "Each shows the other a secret first.": [
        "dap/test_dap_port.py::test_a_program_and_its_adapter_show_each_other_a_secret",
        "dap/test_dap_port.py::test_a_program_obeys_no_other_user_who_has_its_port_now",
    ],
    "These secrets are in a file that only you can read, not on a command line or in the"
    " environment.": [
        "dap/test_dap_port.py::test_the_file_with_the_secrets_is_for_this_user_only",
    ],
}  # fmt: skip
PROGRAM: Final = """\
import autograd_core as torch
import sys, os
weight = torch.tensor([1.5, 2.5], requires_grad=True)
(weight * 3).sum().backward()  # a remark of mine
"""
RUN_PROGRAMS: Final = {"gradstep/program/process.py", "viz/gradstep_viz/embedding/running.py"}
"""Where the programs that a user names are run, and those in documents."""
ONLY_LOCAL: Final = {
    "gradstep/dap/adapter.py", "gradstep/dap/port.py", "gradstep/dap/process.py",
    "tui/gradstep_tui/commands/dap.py",
}  # fmt: skip
"""What serves editors, on this machine."""
OPENS_A_FILE: Final = "tui/gradstep_tui/destination.py"
"""Where a browser is asked to show a file that was just written."""
UNPICKLES: Final = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
NETWORK: Final = {
    "ftplib", "http", "requests", "smtplib", "socketserver", "urllib.request", "urllib3",
    "xmlrpc", "httpx", "aiohttp",
}  # fmt: skip


def sentences() -> list[str]:
    """What the page says; where to read on is no promise."""
    body = TEXT.split(" What runs code ", 1)[1]
    for title in re.findall(r"What [a-z ]+? (?=[A-Z`])", TEXT):
        body = body.replace(title, "")
    parts = re.split(r"(?<=[.]) +(?=[A-Z`])", body.strip())
    return [part for part in parts if not part.startswith("See :")]


def test_each_sentence_is_held_by_a_test() -> None:
    assert sentences() == list(HELD_BY)


@pytest.mark.parametrize("name", sorted({name for names in HELD_BY.values() for name in names}))
def test_each_test_is_there(name: str) -> None:
    file, function = name.split("::")
    tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
    assert function in {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}


def product(names: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield what the files of gradstep consist of, and where; of those that have ``names``."""
    for folder in ("gradstep", "viz", "tui"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text, file = path.read_text("utf-8"), path.relative_to(ROOT).as_posix()
            if re.search(names, text):
                yield from ((file, node) for node in ast.walk(ast.parse(text)))


def modules(node: ast.AST) -> list[str]:
    """Return the modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    if isinstance(node, ast.ImportFrom) and node.module is not None:
        return [node.module, *[f"{node.module}.{name.name}" for name in node.names]]
    return []


def test_only_programs_are_run() -> None:
    running = {
        file
        for file, node in product(r"\b(eval|exec|execfile)\b")
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("eval", "exec", "execfile")
    }
    assert running == RUN_PROGRAMS


def test_nothing_is_unpickled_and_nothing_goes_to_a_network() -> None:
    for file, node in product():
        for name in modules(node):
            top = name.partition(".")[0]
            assert top not in UNPICKLES, file
            assert not {name, top} & NETWORK, file
            assert top != "socket" or file in ONLY_LOCAL, file
            assert top != "webbrowser" or file == OPENS_A_FILE, file
        match node:
            case ast.Attribute(value=ast.Name(id="torch" | "np"), attr="load"):
                raise AssertionError(file)


@pytest.mark.parametrize("format", ["svg", "html"])
def test_pages_and_pictures_load_nothing(format: str) -> None:
    x = torch.ones(2, requires_grad=True)
    text = render((x * 3).sum(), format=format).data.decode()
    for loads in (
        r"<(link|iframe|img|object|embed)\b",
        r"@import",
        r"\burl\(\s*['\"]?(?!#|data:)",
        r"\b(src|href)\s*=\s*['\"](?!#|data:)",
        r"\b(fetch|XMLHttpRequest|WebSocket|importScripts)\b",
    ):
        assert re.search(loads, text) is None, loads


def gradstep(folder: Path, *given: str) -> None:
    (folder / "train.py").write_text(PROGRAM)
    subprocess.run(
        [sys.executable, "-m", "gradstep", *given], cwd=folder, capture_output=True, check=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("command", "written"),
    [
        (["render"], "train.svg"),
        (["render", "-o", "mine.svg"], "mine.svg"),
        (["record"], "run.gsr"),
        (["check"], None),
    ],
)
def test_nothing_is_written_beside_what_is_named(
    command: list[str], written: str | None, tmp_path: Path
) -> None:
    gradstep(tmp_path, *command, "train.py")
    names = {path.name for path in tmp_path.iterdir()} - {"train.py"}
    assert names == ({written} if written else set())


@pytest.mark.parametrize("options", [[], ["--no-source"], ["--values", "all"]])
def test_a_recording_contains_lines_and_tensors_as_is_said(
    options: list[str], tmp_path: Path
) -> None:
    gradstep(tmp_path, "record", "-o", "run.gsr", *options, "train.py")
    has_lines = "--no-source" not in options
    with FileRun(tmp_path / "run.gsr") as run:
        (index,) = run.full
        flow = run.flow(index)
        assert flow is not None
        kept = [flow.values.array(number) for number in range(len(flow.values))]
        files = {
            node.source[0] for node in run.graph(run.call(index).structure).nodes() if node.source
        }
        texts = [run.source(file) for file in files]
    assert any(array is not None for array in kept) == ("all" in options)
    assert any("a remark of mine" in (text or "") for text in texts) == has_lines
    if not has_lines:
        assert b"a remark of mine" not in (tmp_path / "run.gsr").read_bytes()
