"""A picture follows the page it stands on, and the reader's system where it stands alone."""

from __future__ import annotations

import re

from gradstep_viz import theme
from gradstep_viz.output.svg.style import page_rules

RULES = page_rules(".p", theme.LIGHT, theme.DARK)


def test_every_colour_has_both_its_values() -> None:
    pairs = {
        name: (light, dark)
        for name, light, dark in re.findall(r"--gs-(\w+):light-dark\((#\w+),(#\w+)\)", RULES[0])
    }
    assert pairs == {name: (theme.LIGHT[name], theme.DARK[name]) for name in theme.LIGHT}


def test_viewers_that_know_no_light_dark_are_told_nothing() -> None:
    assert RULES[0].startswith("@supports (color:light-dark(")
    assert not any("light-dark" in rule for rule in RULES[1:])


def test_the_system_decides_only_where_the_page_leaves_it_to_it() -> None:
    (by_system,) = (rule for rule in RULES if "{color-scheme:light dark}" in rule)
    assert by_system.startswith(".p:root,:is([data-theme=auto],body:not([data-theme]) #furo")
    assert "prefers-color-scheme" not in "".join(RULES)


def test_every_rule_is_bound_to_its_picture() -> None:
    selectors = [re.sub(r"^@supports .*?\{|\{.*", "", rule) for rule in RULES]
    assert all(re.search(r"\.p(:root)?$", s) for each in selectors for s in each.split(",.p"))
