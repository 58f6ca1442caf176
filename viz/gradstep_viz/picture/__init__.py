"""Pictures before anyone writes them: boxes, lines, captions, and where they stand.

``compose`` makes a picture of a graph, ``model`` is what it is made of, and ``geometry`` is what a
layout adds to it.
"""
