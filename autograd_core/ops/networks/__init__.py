"""Layers of neural networks: convolution, pooling, normalization, attention, resampling."""
