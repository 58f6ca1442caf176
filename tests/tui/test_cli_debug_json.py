"""``gradstep debug --batch --format json``: one object for each command, as its schema says."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest

from tests.tui.conftest import Gradstep

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed (extra 'test')")

PROGRAM = """
    import LIBRARY as torch
    print("hello")
    x = torch.tensor([1.0, 4.0], requires_grad=True)
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    for step in range(2):
        (x.sqrt() * w).sum().backward()
"""
SICK = """
    import LIBRARY as torch
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    (x.sqrt() * x).sum().backward()
"""


def no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def told(out: str) -> list[dict[str, Any]]:
    """The objects, each of which keeps to the schema."""
    schema = json.loads(files("gradstep.console").joinpath("reply.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    known = [json.loads(line, parse_constant=no_constant) for line in out.splitlines()]
    for each in known:
        jsonschema.Draft202012Validator(schema).validate(each)
    return known


def batch(*commands: str) -> list[str]:
    return ["debug", "--batch", "--format", "json", *(w for c in commands for w in ("--ex", c))]


def test_each_command_tells_where_the_pass_stands(gradstep: Gradstep) -> None:
    commands = ["break mul", "continue", "print in", "info leaves", "continue"]
    done = gradstep(PROGRAM, *batch(*commands), "train.py")
    assert done.code == 0
    assert "hello" in done.err
    replies = told(done.out)
    assert [each["command"] for each in replies] == commands
    stopped = replies[1]
    assert stopped["stopped_by"]["address"] == stopped["node"]["address"] == "mul:1"
    assert stopped["stopped_by"]["number"] == 1
    assert stopped["call"] == {"kind": "backward", "number": 1}
    assert (stopped["position"], stopped["status"]) == (1, "paused")
    assert stopped["node"]["at"]["text"] == "(x.sqrt() * w).sum().backward()"
    assert stopped["node"]["incoming"][0]["value"]["elements"] == [1.0, 1.0]
    assert replies[2]["values"]["in"]["elements"] == [1.0, 1.0]
    assert replies[2]["stopped_by"] is None
    assert replies[3]["values"] == {"x.grad": None, "w.grad": None}
    end = replies[4]
    assert (end["status"], end["node"]) == ("finished", None)
    assert end["leaves"]["w"]["elements"] == [1.0, 2.0]


def test_a_wrong_command_ends_the_run_and_says_where_it_is_wrong(gradstep: Gradstep) -> None:
    done = gradstep(PROGRAM, *batch("nxt", "next"), "train.py")
    assert done.code == 2
    reply, end = told(done.out)
    assert reply["error"]["column"] == 0
    assert "unknown command: nxt" in reply["error"]["message"]
    assert (end["command"], end["exit_code"]) == (None, 2)


def test_a_nan_is_told_with_where_it_began(gradstep: Gradstep) -> None:
    done = gradstep(SICK, "debug", "--fail-on", "nan,inf", "--format", "json", "train.py")
    assert done.code == 5
    reply, end = told(done.out)
    assert reply["stopped_by"]["condition"] == "nan,inf"
    assert reply["stopped_by"]["address"] == "sqrt:1"
    assert reply["stopped_by"]["value"]["elements"] == ["nan", 1.0]
    assert reply["stopped_by"]["computed_there"]
    assert end["exit_code"] == 5


def test_a_nan_of_the_forward_pass_is_told_as_data(gradstep: Gradstep) -> None:
    log = SICK.replace("x.sqrt() * x", "x.log() * x")
    (reply, *_) = told(
        gradstep(log, "debug", "--fail-on", "nan,inf", "--format", "json", "train.py").out
    )
    began = reply["stopped_by"]["began"]
    assert (began["kind"], began["began"], began["at"]["line"]) == ("Beginning", "at", 4)
    assert began["fields"]["amount"] == {"trouble": "inf", "places": 1, "size": 2, "first": [0]}


def test_a_certificate_is_told(gradstep: Gradstep) -> None:
    done = gradstep(PROGRAM, "debug", "--certify", "--format", "json", "train.py")
    assert done.code == 0
    first, second = told(done.out)
    assert (first["nodes"], first["different"], second["call"]["number"]) == (5, [], 2)


@pytest.mark.sampled(torch=0)
def test_json_is_for_runs_without_a_screen(gradstep: Gradstep) -> None:
    done = gradstep(PROGRAM, "debug", "--format", "json", "train.py")
    assert done.code == 2
    assert "--format json is for --batch, --fail-on and --certify: name one" in done.err
