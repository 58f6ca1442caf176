"""Pictures in Markdown, for ``pymdownx.superfences``: see :mod:`gradstep_viz.markdown`."""

from gradstep_viz.markdown import format, validate

__all__ = ["format", "validate"]
