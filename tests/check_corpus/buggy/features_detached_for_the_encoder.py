import torch
from torch import nn

torch.manual_seed(65)


class Brain(nn.Module):
    def __init__(self):
        super().__init__()
        self.compute_features = nn.Conv1d(1, 6, kernel_size=8, stride=4)
        self.enc = nn.GRU(6, 10, batch_first=True)
        self.output = nn.Linear(10, 3)

    def forward(self, wavs):
        feats = torch.relu(self.compute_features(wavs.unsqueeze(1))).transpose(1, 2)
        x, _ = self.enc(feats.detach())
        return self.output(x[:, -1])


brain = Brain()
optimizer = torch.optim.Adam(brain.parameters(), lr=0.01)
wavs, speaker = torch.randn(12, 40), torch.arange(12) % 3
for epoch in range(12):
    loss = nn.functional.cross_entropy(brain(wavs), speaker)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
print("train loss", loss.item())
