"""The options of a picture: one set, from which every front end derives its own."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

import gradstep
from gradstep_tui.commands.render import parser
from gradstep_viz.embedding import drawing_options
from gradstep_viz.errors import UnknownFormat, VizError
from gradstep_viz.options import RenderKeywords, RenderOptions, render_options

NAMES = [each.name for each in fields(RenderOptions)]


def test_every_front_end_has_every_option() -> None:
    in_python = inspect.signature(gradstep.render).parameters
    on_the_command_line = vars(parser().parse(["train.py"]))
    in_documents = drawing_options()
    for name in NAMES:
        assert name in in_python
        assert name in on_the_command_line
        assert name.replace("_", "-") in in_documents


def test_the_keywords_that_type_checkers_know_are_the_options() -> None:
    hints = RenderOptions.__annotations__
    assert RenderKeywords.__annotations__.keys() == hints.keys()
    assert {name: str(hints[name]) for name in NAMES} == {
        name: hint.__forward_arg__ for name, hint in RenderKeywords.__annotations__.items()
    }


def test_the_command_line_without_options_is_the_default() -> None:
    parsed = vars(parser().parse(["train.py"]))
    assert RenderOptions(**{name: parsed[name] for name in NAMES}) == RenderOptions()


@pytest.mark.parametrize("function", [gradstep.render, gradstep.to_graphviz])
def test_help_explains_every_option(function) -> None:  # type: ignore[no-untyped-def]
    text = inspect.getdoc(function) or ""
    for option in render_options():
        assert option.doc
        assert f"{option.name}: {option.doc.split()[0]}" in text
        assert f"    {option.name}: " in (inspect.getdoc(RenderOptions) or "")
        assert f"--{option.name.replace('_', '-')}" in parser().format_help()
    parameters = inspect.signature(function).parameters
    assert parameters["view"].default == "auto"
    assert "options" not in parameters


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"view": "sideways"}, UnknownFormat, "choose one of auto, forward, backward, both, flow"),
        ({"width": "80%"}, VizError, "write a number of pixels, or 88mm"),
        ({"shape": "wide"}, VizError, "write two numbers, as in 16:9"),
        ({"shape": "16:0"}, VizError, "write two numbers, as in 16:9"),
        ({"theme": "pink"}, UnknownFormat, "choose one of auto, light, dark"),
        ({"layout": "neato"}, UnknownFormat, "choose one of own, graphviz"),
        ({"full": True, "depth": 2}, VizError, "full folds nothing"),
        ({"hops": 2}, VizError, "add around"),
        ({"max_boxes": 0}, VizError, "must be at least 1"),
    ],
)
def test_options_that_cannot_be_are_refused_with_a_remedy(options, kind, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(kind, match=message):
        RenderOptions(**options)


def test_a_keyword_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        gradstep.render(None, colour="red")  # type: ignore[call-arg]


def test_options_are_frozen() -> None:
    with pytest.raises(AttributeError):
        RenderOptions().view = "forward"  # type: ignore[misc]
