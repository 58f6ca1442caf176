"""Where two runs first differ.

``align`` tells which nodes of two graphs stand for each other, and how the graphs differ,
``values`` how far two tensors are apart; ``runs`` goes through the calls of two runs; ``report``
is what a person or a program reads.
"""
