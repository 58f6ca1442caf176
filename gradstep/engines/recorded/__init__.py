"""The calls of a recording, behind the protocol of engines: sessions, pictures, films and findings
go through them as through those of a program that runs.

``values`` has what flowed, ``call`` the graph of a call, ``driver`` goes through it.
"""

from gradstep.engines.recorded.call import RecordedCall, RecordedNode, RecordedTensor, names_of

__all__ = ["RecordedCall", "RecordedNode", "RecordedTensor", "names_of"]
