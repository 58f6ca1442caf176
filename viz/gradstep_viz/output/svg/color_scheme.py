"""How a picture takes on the colours of the page around it, light or dark, without a script.

CSS has a property for this, ``color-scheme``, and ``light-dark()`` to follow it.  As a document of
its own, a picture follows the reader's system; inside a page it inherits what the page has.  Some
page themes change their colours without saying so; those are known by how they mark their choice.
"""

from __future__ import annotations

from gradstep_viz.theme import Tokens

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
