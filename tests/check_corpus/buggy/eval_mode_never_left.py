import torch
import torch.nn as nn

torch.manual_seed(7)
X, Y = torch.randn(80, 10), torch.randn(80, 1)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.MSELoss()


def validate():
    model.eval()
    with torch.no_grad():
        return criterion(model(X[64:]), Y[64:]).item()


for epoch in range(8):
    for i in range(0, 64, 16):
        xb, yb = X[i : i + 16], Y[i : i + 16]
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: train {loss.item():.3f} valid {validate():.3f}")
