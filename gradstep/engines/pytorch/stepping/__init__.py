"""Steps through a backward pass of PyTorch: its own engine, halted behind each node."""
