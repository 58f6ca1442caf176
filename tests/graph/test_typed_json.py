"""Values that are read by the types of their fields, or refused with the place that is wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

import pytest

from gradstep.graph.typed_json import Unfit, reader


class Point(NamedTuple):
    x: int
    y: float = 0.0
    tags: tuple[str, ...] = ()


class Way(NamedTuple):
    kind: Literal["road", "rail"]
    points: tuple[Point, ...]
    end: Point | None = None
    heights: Mapping[int, float] | None = None


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (int, "3", 3),
        (float, "3", 3.0),
        (float, '"-inf"', -math.inf),
        (int | None, "null", None),
        (bool, "true", True),
        (Annotated[int, "signed"], "-3", -3),
        (frozenset[int], "[2, 1]", frozenset({1, 2})),
        (Point, "[1, 2, []]", Point(1, 2.0)),
        (Point, '{"x": 1, "other": 2}', Point(1)),
        (Point | None, "[null, 2, []]", None),
        (Way, '["rail", [[1, 2]], null, {"4": 5}]', Way("rail", (Point(1, 2),), None, {4: 5.0})),
        (Way, '{"kind": "road", "points": []}', Way("road", ())),
    ],
)
def test_a_value_is_of_its_type(kind: Any, text: str, value: Any) -> None:
    known = reader(kind)(json.loads(text))
    assert known == value
    assert type(known) is type(value)


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        (int, "-1", "-1 stands where something is counted"),
        (int, "true", "expected int, found bool"),
        (int, "1.0", "expected int, found float"),
        (float, '"1"', "expected float, found str"),
        (float, "true", "expected float, found bool"),
        (bool, "1", "expected bool, found int"),
        (Point, "[]", "a list of 0 is no Point"),
        (Point, "[1]", "a list of 1 is no Point"),  # it may lack the last field only
        (Point, "[1, 2, [], 3]", "a list of 4 is no Point"),
        (Point, "3", "expected list, found int"),
        (Point, "[1, 2, [3]]", "tags[0]: expected str, found int"),
        (Way, '{"points": []}', "'kind' is missing"),
        (Way, '["air", [], null]', "kind: 'air' is none of road, rail"),
        (Way, '["rail", [[1, 2], [1, "a"]], null]', "points[1].y: expected float, found str"),
        (Way, '{"kind": "rail", "points": [{"x": null}]}', "points[0].x: expected int, found None"),
        (tuple[int, ...], "{}", "expected list, found dict"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(kind: Any, text: str, problem: str) -> None:
    with pytest.raises(Unfit) as raised:
        reader(kind)(json.loads(text))
    assert problem in str(raised.value)
