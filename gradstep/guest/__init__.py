"""How gradstep behaves as a guest in the user's process.

``fence`` keeps its failures from the program, ``own_files`` tells its frames from the program's,
``silence`` is for code that runs once more, ``collector`` pauses the garbage collector, and
``ranks`` tells which process of a job this is.
"""
