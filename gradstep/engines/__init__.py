"""The libraries whose graphs are read and run: the core, PyTorch, and whoever registers.

``registry`` knows their names, ``lookup`` finds the one that a tensor belongs to, ``protocol`` is
what each of them provides.
"""
