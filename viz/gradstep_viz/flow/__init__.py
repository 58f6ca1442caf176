"""``--view flow``: one row for each module or op of the author, lanes at the left as in a git log.

Graph → parts (what may be a row) → rows (what is one, for a number of rows) → lanes → layout
(geometry as data) → writers.
"""
