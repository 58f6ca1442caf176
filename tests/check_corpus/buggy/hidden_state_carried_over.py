import torch
import torch.nn as nn

torch.manual_seed(50)
series = torch.sin(torch.arange(0, 60) * 0.3).view(1, 60, 1)
lstm = nn.LSTM(1, 12, batch_first=True)
fc = nn.Linear(12, 1)
optimizer = torch.optim.Adam(list(lstm.parameters()) + list(fc.parameters()), lr=0.01)
hidden = (torch.zeros(1, 1, 12), torch.zeros(1, 1, 12))

for start in range(0, 50, 10):
    x = series[:, start : start + 9]
    y = series[:, start + 1 : start + 10]
    out, hidden = lstm(x, hidden)
    loss = ((fc(out) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(start, loss.item())
