"""The frame of all pages: the document around the content, in the colours of the picture."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from gradstep_viz import theme
from gradstep_viz.output.svg import escape

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="color-scheme" content="{schemes}">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
<script type="application/json" id="data">{data}</script>
<script>
{script}</script>
</body>
</html>
"""


def write_page(
    name: str,
    body: Iterable[str],
    data: Any,
    title: str,
    theme_name: str,
    within: Sequence[str] = (),
) -> str:
    """Write a page with the style sheet and the script called ``name``, which finds ``data``, as
    JSON, in the element of that id; ``within`` are the scripts of pages that it contains."""
    folder = files("gradstep_viz.output.pages")
    common, style, script = (
        folder.joinpath(file).read_text(encoding="utf-8")
        for file in ("page.css", f"{name}.css", f"{name}.js")
    )
    scripts = [folder.joinpath(f"{each}.js").read_text("utf-8") for each in within]
    return _PAGE.format(
        policy=_policy(script, *scripts),
        schemes={"auto": "light dark", "light": "light", "dark": "dark"}[theme_name],
        title=escape(title or "Computation graph"),
        style=f"{_colours(theme_name)}\n{common}{style}",
        body="\n".join(body),
        # "</script" would end the element, wherever it stands
        data=json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        script=script,
    )


def _policy(*scripts: str) -> str:
    """Allow these scripts only, styles, and nothing from elsewhere."""
    digests = [hashlib.sha256(f"\n{script}".encode()).digest() for script in scripts]
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _colours(theme_name: str) -> str:
    base = theme.DARK if theme_name == "dark" else theme.LIGHT
    rules = [f":root{{{_tokens(base)};font:{theme.TEXT_SIZE}px {theme.FONT_FAMILY}}}"]
    if theme_name == "auto":
        rules.append(f"@media (prefers-color-scheme:dark){{:root{{{_tokens(theme.DARK)}}}}}")
    return "\n".join(rules)


def _tokens(tokens: theme.Tokens) -> str:
    return ";".join(f"--{name}:{value}" for name, value in tokens.items())
