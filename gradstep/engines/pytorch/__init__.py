"""PyTorch behind the protocol of engines; only modules in here import torch.

``attach`` follows a program into PyTorch, and imports nothing of torch before the program does.
"""
