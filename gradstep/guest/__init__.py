"""How gradstep behaves as a guest in the user's process.

``fence`` keeps its failures from the program, ``own_files`` tells its frames from the program's,
``collector`` pauses the garbage collector, ``ranks`` tells which process of a job this is.
"""
