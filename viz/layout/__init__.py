"""Our own layered layout, in time linear in the size of the picture."""

from viz.layout.ladder import lay_out

__all__ = ["lay_out"]
