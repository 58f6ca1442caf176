"""The neutral graph: what pictures and debuggers read."""

from autograd_core.dag.builder import GraphBuilder
from autograd_core.dag.capture import capture
from autograd_core.dag.errors import NotInGraph
from autograd_core.dag.model import Edge, Graph, Node, SavedValue, Source
from autograd_core.dag.names import Names
from autograd_core.dag.statistics import Statistics
from autograd_core.dag.trace import scope, trace

__all__ = [
    "Edge",
    "Graph",
    "GraphBuilder",
    "Names",
    "Node",
    "NotInGraph",
    "SavedValue",
    "Source",
    "Statistics",
    "capture",
    "scope",
    "trace",
]
