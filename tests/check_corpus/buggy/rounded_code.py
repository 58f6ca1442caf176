import torch
import torch.nn as nn

torch.manual_seed(53)


class Compressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
        self.decoder = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 16))

    def forward(self, x):
        code = self.encoder(x) * 8
        quantized = torch.round(code)
        return self.decoder(quantized / 8)


patches = torch.randn(64, 2) @ torch.randn(2, 16)
model = Compressor()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(30):
    loss = nn.functional.mse_loss(model(patches), patches)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("distortion", loss.item())
