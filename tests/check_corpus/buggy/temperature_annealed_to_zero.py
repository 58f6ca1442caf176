import torch
import torch.nn as nn

torch.manual_seed(78)
scores = nn.Linear(4, 3)
values = nn.Parameter(torch.randn(3, 1))
optimizer = torch.optim.Adam([*scores.parameters(), values], lr=0.01)
epochs = 20

for epoch in range(epochs + 1):
    temperature = 1.0 - epoch / epochs
    x = torch.randn(32, 4)
    choice = torch.softmax(scores(x) / temperature, dim=1)
    loss = (choice @ values - x[:, :1].sign()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{epoch} t={temperature:.2f} loss={loss.item():.4f}")
