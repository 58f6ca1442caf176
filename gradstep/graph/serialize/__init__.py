"""A Graph as JSON, and back.

The document is one object, version 1:

``format``, ``version``
    "gradstep-graph", 1
``title``
    text
``derived_forward``
    true when the forward half was derived from the backward one
``modules``
    if known, the class of each scope that is a module
``unfolded``
    for a folded graph, the totals of the unfolded one
``part``
    for a part of a graph, ``which`` part it is, and the totals of the ``whole``
``nodes``
    in the order of their ids: ``kind``, ``half``, ``name``, ``count``, and where known ``stem``
    (what its address calls it, where that is not its name), ``scope``, ``shape``, ``dtype``,
    ``detail``, ``formula``, ``variable``, ``source`` [file, line], ``order`` (from 0 on: 0 runs
    first, and is ``#1`` in pictures and in the debugger), ``pair``, ``saved``, ``statistics``,
    ``undefined``, ``group``, ``cost``, ``hooks``
``edges``
    in the order of their ids: ``kind``, ``source``, ``target``, and where known ``output_nr``,
    ``input_nr``, ``shape``, ``dtype``, ``label``, ``nbytes``, ``statistics``, ``undefined``,
    ``multiplicity``, ``hook``

``statistics`` is an object of numbers; "nan", "inf" and "-inf" are strings, because JSON lacks
them. A change by hooks has the names of the ``hooks``, and ``before`` and ``after`` as statistics.
Unknown values are omitted: a missing ``shape`` is unknown, ``[]`` is a scalar.
"""

from gradstep.graph.serialize.reading import from_json
from gradstep.graph.serialize.writing import to_json

__all__ = ["from_json", "to_json"]
