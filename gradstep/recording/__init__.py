"""Facts of a whole run: what watches a run writes them, what explains it reads them.

``facts`` has the records, ``run`` the protocol by which they are read, from memory or from a file,
``schedule`` says how much is kept of which call.
"""

from gradstep.recording.errors import BadRecording, NotRecorded, RecordingError
from gradstep.recording.facts import CallFacts, Flow, Header, Leaf, LeafFacts, Level, Warned
from gradstep.recording.run import MemoryRun, Run, graph_of

__all__ = [
    "BadRecording",
    "CallFacts",
    "Flow",
    "Header",
    "Leaf",
    "LeafFacts",
    "Level",
    "MemoryRun",
    "NotRecorded",
    "RecordingError",
    "Run",
    "Warned",
    "graph_of",
]
