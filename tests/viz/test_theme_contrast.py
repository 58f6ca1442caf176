"""Text can be read: WCAG contrast of every text on everything it stands on, in both themes."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from gradstep_viz import theme
from tests.viz.laws import Floats

GROUNDS = ["bg", "card", *(role.fill for role in theme.BOX_ROLES.values())]


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_formula_is_the_one_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("tokens", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ground", sorted(set(GROUNDS)))
def test_text_and_muted_text_stand_out(tokens: theme.Tokens, ground: str) -> None:
    assert contrast(tokens["ink"], tokens[ground]) >= 7
    assert contrast(tokens["mute"], tokens[ground]) >= 4.5


@pytest.mark.parametrize("tokens", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_borders_lines_and_alarms_can_be_seen(tokens: theme.Tokens) -> None:
    for role in theme.BOX_ROLES.values():
        assert contrast(tokens[role.stroke], tokens["bg"]) >= 3
    for token in theme.LINE_ROLES.values():
        assert contrast(tokens[token], tokens["bg"]) >= 3
    for ground in ("bg", "alertbg"):
        assert contrast(tokens["alert"], tokens[ground]) >= 4.5


def test_both_themes_name_the_same_tokens() -> None:
    assert theme.LIGHT.keys() == theme.DARK.keys()


@pytest.mark.parametrize("tokens", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_larger_gradients_stand_out_more(tokens: theme.Tokens) -> None:
    ratios = [contrast(tokens[shade], tokens["bg"]) for shade in theme.SHADES]
    assert ratios[0] >= 3
    assert all(more > 1.4 * less for less, more in pairwise(ratios))
    assert list(theme.SHADE_WIDTHS) == sorted(theme.SHADE_WIDTHS)


BLINDNESS = {
    "none": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritan": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
"""What an eye makes of linear red, green and blue: Machado et al., 2009, at full severity."""

TO_XYZ = [[0.434, 0.376, 0.190], [0.213, 0.715, 0.072], [0.018, 0.109, 0.873]]
"""From linear sRGB, divided by the white point D65."""


def seen(colour: str, eye: str) -> Floats:
    """The colour in CIELAB, as an eye sees it."""
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    xyz = np.array(TO_XYZ) @ np.clip(np.array(BLINDNESS[eye]) @ linear, 0, 1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eye", BLINDNESS)
@pytest.mark.parametrize("tokens", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_colours_stay_apart_for_every_eye(tokens: theme.Tokens, eye: str) -> None:
    for one, other in combinations(("fwd", "bwd", "leaf", "saved", "alert"), 2):
        difference = np.linalg.norm(seen(tokens[one], eye) - seen(tokens[other], eye))
        assert difference >= 12, (one, other)
