import torch
import torch.nn as nn

torch.manual_seed(24)
model = nn.Sequential(
    nn.Linear(4, 32),
    nn.ReLU(),
    nn.Linear(32, 3),
    nn.Softmax(dim=1),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

centers = torch.tensor([[3.0, 0, 0, 0], [0, 3.0, 0, 0], [0, 0, 3.0, 0]])
labels = torch.arange(60) % 3
inputs = centers[labels] + 0.3 * torch.randn(60, 4)
history = []
for epoch in range(60):
    optimizer.zero_grad()
    loss = criterion(model(inputs), labels)
    loss.backward()
    optimizer.step()
    history.append(loss.item())
print(history[-1])
