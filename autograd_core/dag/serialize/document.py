"""What tells the document from others."""

FORMAT = "gradstep-graph"
VERSION = 1
