"""What an engine provides, and which engine a tensor belongs to.

``registry`` knows the engines by name, ``lookup`` finds the one of a tensor, ``protocol`` and
``driver`` are what each of them provides, and ``op_records`` are what it notes of the forward pass.
"""
