"""One small page around a picture; it needs nothing from anywhere else."""

from __future__ import annotations

from viz import theme
from viz.svg import escape

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="{schemes}">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<main>
{svg}</main>
</body>
</html>
"""


def write_html(svg: str, title: str, theme_name: str = "auto") -> str:
    """The page, in the colours of the picture; a picture wider than the window scrolls."""
    schemes = {"auto": "light dark", "light": "light", "dark": "dark"}[theme_name]
    base = theme.DARK if theme_name == "dark" else theme.LIGHT
    style = [
        f"body{{margin:0;background:{base['bg']}}}",
        "main{overflow:auto;padding:12px}",
        "svg{display:block;margin:auto}",
    ]
    if theme_name == "auto":
        dark = theme.DARK["bg"]
        style.insert(1, f"@media (prefers-color-scheme:dark){{body{{background:{dark}}}}}")
    return _PAGE.format(
        schemes=schemes, title=escape(title or "Computation graph"), style="\n".join(style), svg=svg
    )
