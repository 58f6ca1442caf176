"""The neutral graph: what pictures and debuggers read."""

from gradstep.graph.builder import GraphBuilder
from gradstep.graph.errors import NotInGraph
from gradstep.graph.model import Edge, Graph, Node, SavedValue, Source
from gradstep.graph.statistics import Statistics

__all__ = [
    "Edge",
    "Graph",
    "GraphBuilder",
    "Node",
    "NotInGraph",
    "SavedValue",
    "Source",
    "Statistics",
]
