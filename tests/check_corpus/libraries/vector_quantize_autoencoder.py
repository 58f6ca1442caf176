"""An autoencoder with a residual quantizer whose codes follow by moving averages."""

import torch
from torch import nn
from vector_quantize_pytorch import ResidualVQ

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 8))
decoder = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 16))
quantizer = ResidualVQ(dim=8, num_quantizers=2, codebook_size=16, kmeans_init=True)
optimizer = torch.optim.AdamW([*encoder.parameters(), *decoder.parameters()], lr=3e-3)
mixing = torch.randn(3, 16)
history = []
for step in range(30):
    x = (torch.randn(16, 4, 3) @ mixing).tanh()
    quantized, indices, commitment = quantizer(encoder(x))
    loss = (decoder(quantized) - x).abs().mean() + commitment.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert sum(history[-5:]) < 0.85 * sum(history[:5])
