"""The calls of a recording, behind the protocol of engines: sessions, pictures, films and findings
go through them as through those of a program that runs.

``values`` has what flowed, ``nodes`` and ``call`` the graph of a call, ``driver`` goes through it.
"""

from gradstep.engines.recorded.call import RecordedCall
from gradstep.engines.recorded.nodes import RecordedLeaf, RecordedNode, RecordedTensor
from gradstep.engines.recorded.values import RecordedValue

__all__ = ["RecordedCall", "RecordedLeaf", "RecordedNode", "RecordedTensor", "RecordedValue"]
