import torch
import torch.nn as nn

device = torch.device("cpu")
torch.manual_seed(70)
random_cnn = nn.Conv1d(1, 4, 5)
for p in random_cnn.parameters():
    p.requires_grad = False

content = torch.randn(1, 1, 32)
voice = torch.randn(1, 1, 32, requires_grad=True).to(device, torch.float64)
optimizer = torch.optim.Adam([voice], lr=0.05)
random_cnn = random_cnn.to(device, torch.float64)
goal = random_cnn(content.double())
for step in range(10):
    loss = (random_cnn(voice) - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
