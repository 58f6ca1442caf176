"""The Sphinx extension: ``extensions = ["gradstep.sphinx"]``."""

from gradstep_viz.sphinx import setup

__all__ = ["setup"]
