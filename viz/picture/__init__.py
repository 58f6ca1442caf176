"""What a picture says, before anyone writes it: boxes, lines, captions, and where they stand.

``compose`` makes a picture of a graph, ``model`` is what it is made of, and ``geometry`` is what a
layout adds to it.
"""
