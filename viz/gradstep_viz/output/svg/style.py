"""The style sheet of one picture, which takes on the colours of the page around it, light or dark,
without a script.

CSS has a property for this, ``color-scheme``, and ``light-dark()`` to follow it.  As a document of
its own, a picture follows the reader's system; inside a page it inherits what the page has.  Some
page themes change their colours without saying so; those are known by how they mark their choice.
"""

from __future__ import annotations

from gradstep_viz import theme
from gradstep_viz.theme import Tokens


def style(
    prefix: str,
    theme_name: str,
    plain: bool = False,
    framed: bool = False,
    ported: bool = False,
    marked: bool = False,
) -> str:
    """Write the style sheet of one picture; every rule is bound to its class ``prefix``."""
    base = theme.DARK if theme_name == "dark" else theme.LIGHT
    scope = f".{prefix}"
    variables = "" if plain else f"{_variables(base)};"
    font = f"font-size:{theme.TEXT_SIZE}px;font-family:{theme.FONT_FAMILY}"
    rules = [f"{scope}{{{variables}{font}}}"]
    if theme_name == "auto" and not plain:
        rules += page_rules(scope, theme.LIGHT, theme.DARK)

    def paint(selector: str, extra: str = "", **properties: str) -> None:
        painted = [
            f"{name}:{base[token]}" + ("" if plain else f";{name}:var(--gs-{token})")
            for name, token in properties.items()
        ]
        rules.append(f"{scope} {selector}{{{';'.join([*painted, extra]).strip(';')}}}")

    paint(".bg", fill="bg")
    paint("text", "white-space:pre", fill="ink")
    paint(".m", f"font-size:{theme.MUTED_SIZE}px", fill="mute")
    paint(".v", f"font-size:{theme.MUTED_SIZE}px")
    paint(".h", "font-weight:600")
    paint(".t", f"font-size:{theme.TITLE_SIZE}px;font-weight:600")
    paint(".e", "text-anchor:end")
    paint(".label", "stroke-width:4px;stroke-linejoin:round;paint-order:stroke", stroke="bg")
    paint(".node rect", "stroke-width:1.2px")
    for role, (fill, stroke) in theme.BOX_ROLES.items():
        paint(f".{role}>rect", fill=fill, stroke=stroke)
    paint(".node .chip rect", "stroke-width:.8px")
    paint(".edge path", "fill:none;stroke-width:1.3px", stroke="line")
    for role, token in theme.LINE_ROLES.items():
        paint(f".{role} path", stroke=token)
        paint(f".{role} .tip", "stroke:none", fill=token)
    paint(".saved path", "stroke-dasharray:2 3")
    paint(".edge .hook", "stroke-width:1.4px", fill="bg", stroke="ink")
    paint("text.x", "font-weight:600", fill="alert")
    for number, (token, width) in enumerate(zip(theme.SHADES, theme.SHADE_WIDTHS), 1):
        paint(f".edge.g{number} path", f"stroke-width:{width}px", stroke=token)
        paint(f".edge.g{number} .tip", "stroke:none", fill=token)
        paint(f".bwd.g{number}>rect", f"stroke-width:{width}px", stroke=token)
    # a gradient of 0: dashed and hollow
    paint(".edge.g0 path", "stroke-width:1.3px;stroke-dasharray:5 3", stroke="mute")
    paint(".edge.g0 .tip", "stroke-width:1.1px;stroke-dasharray:none", fill="bg", stroke="mute")
    for selector in (".node.g0>rect", ".chip.g0 rect"):
        paint(selector, "stroke-dasharray:5 3", fill="bg")
    paint(".none path", "stroke-width:.8px", stroke="line")
    paint(".none .tip", "stroke:none", fill="line")
    for selector in (".alert>rect", ".edge.alert path"):
        paint(selector, stroke="alert")
    paint(".edge.alert .tip", fill="alert")
    paint(".waits path:not(.tip)", "stroke-dasharray:6 4")
    paint(".ring rect", "fill:none;stroke-width:1.8px", stroke="ink")
    if framed:
        paint(".frame rect", "fill:none;stroke-width:1px;stroke-dasharray:5 4", stroke="mute")
    if ported:
        paint(".port circle", "stroke-width:1.2px", fill="bg")
        for role, token in theme.LINE_ROLES.items():
            paint(f".port.{role} circle", stroke=token)
        paint(".port text", "text-anchor:middle;font-weight:600")
    if marked:
        paint(".node.added>rect", "stroke-width:3px")
        paint(".node.removed>rect", "stroke-width:2px;stroke-dasharray:6 4")
        paint(".node.changed>rect", "stroke-width:3px", stroke="ink")
    for selector in ("a:hover .h", "a:focus .h"):
        paint(selector, "text-decoration:underline")
    return "\n".join(rules)


def _variables(tokens: theme.Tokens) -> str:
    return ";".join(f"--gs-{name}:{value}" for name, value in tokens.items())


_DARK = (
    "[data-theme=dark]",  # Furo, PyData, Docusaurus
    "[data-md-color-scheme=slate]",  # Material for MkDocs, Zensical
    "[data-bs-theme=dark]",  # Bootstrap
    "[data-jp-theme-light=false]",  # JupyterLab
    ".vscode-dark",
)
_LIGHT = (
    "[data-theme=light]",
    "[data-md-color-scheme=default]",
    "[data-bs-theme=light]",
    "[data-jp-theme-light=true]",
    ".vscode-light",
)
_SYSTEM = (
    "[data-theme=auto]",  # Furo
    "body:not([data-theme]) #furo-main-content",  # the same, where scripts do not run
)


def page_rules(scope: str, light: Tokens, dark: Tokens) -> list[str]:
    """Write the rules that switch the variables of ``scope``; viewers that do not know
    ``light-dark()`` keep the light ones."""
    return [
        both_rule(scope, light, dark),
        f"{scope}:root,:is({','.join(_SYSTEM)}) {scope}{{color-scheme:light dark}}",
        f":is({','.join(_DARK)}) {scope}{{color-scheme:dark}}",
        f":is({','.join(_LIGHT)}) {scope}{{color-scheme:light}}",
    ]


def both_rule(scope: str, light: Tokens, dark: Tokens) -> str:
    """Write the rule that gives variables of ``scope`` the one colour or the other."""
    both = ";".join(f"--gs-{name}:light-dark({light[name]},{dark[name]})" for name in light)
    return f"@supports (color:light-dark(red,red)){{{scope}{{{both}}}}}"
