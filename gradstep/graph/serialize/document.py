"""The marks of the document."""

FORMAT = "gradstep-graph"
VERSION = 1
