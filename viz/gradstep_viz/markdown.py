"""Graphs in Markdown: fences for MkDocs, Zensical, and other tools that use pymdownx.superfences.

In ``mkdocs.yml``::

    markdown_extensions:
      - pymdownx.superfences:
          custom_fences:
            - name: autograd-graph
              class: autograd-graph
              validator: !!python/name:gradstep.markdown.validate
              format: !!python/name:gradstep.markdown.format
            - name: autograd-film
              class: autograd-film
              validator: !!python/name:gradstep.markdown.validate
              format: !!python/name:gradstep.markdown.format

In a page, write code or ``file.py:name`` (relative to the directory in which the site is built),
with every option in quotes::

    ```autograd-graph view="backward" caption="The gradient of the loss"
    train.py:loss
    ```

The options are those of the Sphinx directives. Outside braces, write names such as
``include_source`` with underscores. MyST uses the directives themselves and needs none of this.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from gradstep_viz.embedding import (
    Request,
    Store,
    draw,
    drawing_options,
    inline_svg,
    of_drawing,
    snippet_of,
    steps,
    truth,
)
from gradstep_viz.errors import CodeFailed, VizError
from gradstep_viz.output.svg import escape

# MkDocs counts what is logged here, and its --strict makes a failed build of it
logger = logging.getLogger("mkdocs.plugins.gradstep")

CACHE = Path(".cache") / "gradstep"

_FILM = "autograd-film"
_OF_THE_PAGE: dict[str, Callable[[str], Any]] = {
    "alt": str,
    "caption": str,
    "width": str,
    "align": str,
    "include-source": truth,
}


def validate(
    language: str,
    inputs: dict[str, str | None],
    options: dict[str, Any],
    attrs: dict[str, str],
    md: Any,
) -> bool:
    """Read the options of a fence, for superfences; ``data-…`` become attributes.

    Unknown options and values are logged, and the fence is drawn without them.
    """
    readers = _readers(language == _FILM)
    for given, text in inputs.items():
        name = given.replace("_", "-")  # without braces, superfences knows no hyphens in names
        if name.startswith("data-"):
            attrs[name] = text or ""
            continue
        if name not in readers:
            known = ", ".join(sorted(readers))
            logger.warning("%s: there is no option %s; there are %s", language, name, known)
            continue
        try:
            # an option that stands alone comes with its name as its value, or with None
            options[name] = readers[name]("" if text in (given, None) else str(text))
        except ValueError as error:
            logger.warning("%s: the option %s: %s", language, name, error)
    return True


@cache
def _readers(film: bool) -> dict[str, Callable[[str], Any]]:
    of_graphs = {} if film else {"step": steps, "values": truth}
    return {**_OF_THE_PAGE, **of_graphs, **drawing_options(film)}


def format(
    source: str,
    language: str,
    class_name: str,
    options: dict[str, Any],
    md: Any,
    classes: list[str] | None = None,
    id_value: str = "",
    attrs: dict[str, str] | None = None,
    **others: Any,
) -> str:
    """Write the HTML of a fence, for superfences.

    If the code fails, an error is logged, and the page shows it.
    """
    try:
        snippet = snippet_of(source, Path.cwd())
        request = Request(
            (snippet,),
            of_drawing(options, language == _FILM),
            film=language == _FILM,
            step=options.get("step"),
            values=options.get("values", False),
        )
        drawing = draw(request, Store(CACHE.absolute()))
    except VizError as error:
        text = f"{language}: {_line(error)}{error}"
        # an error, which --quiet lets through; which page it is, superfences does not tell
        logger.error("%s\n%s", text, source)
        return f'<pre class="{escape(class_name)}">{escape(text)}</pre>'
    for note in drawing.notes:
        logger.info("%s: %s", language, note)
    picture = inline_svg(
        drawing.svg,
        taken=vars(md).setdefault("gradstep_ids", set()),  # of the page that md is making
        title=options.get("alt", drawing.alt),
        width=options.get("width", ""),
        align=options.get("align", "center" if "caption" in options else ""),
        classes=[class_name, *(classes or ())],
    )
    return _framed(picture, snippet.code, options, id_value, attrs or {})


def _line(error: VizError) -> str:
    """Say where it happened, in code that stands in the fence."""
    if isinstance(error, CodeFailed) and error.line and not error.where:
        return f"line {error.line}: "
    return ""


def _framed(
    picture: str, code: str, options: dict[str, Any], id_value: str, attrs: dict[str, str]
) -> str:
    """Put the source of the picture above it and its caption below, as far as they are asked
    for."""
    named = "".join(
        f' {escape(name)}="{escape(value)}"'
        for name, value in {**({"id": id_value} if id_value else {}), **attrs}.items()
    )
    if options.get("include-source"):
        picture = f'<pre><code class="language-python">{escape(code)}</code></pre>\n{picture}'
    if "caption" in options:
        caption = f"<figcaption>{escape(options['caption'])}</figcaption>"
        return f"<figure{named}>\n{picture}{caption}\n</figure>"
    return f"<div{named}>\n{picture}</div>" if named else picture
