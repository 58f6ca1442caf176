import torch
import torch.nn as nn

torch.manual_seed(12)
series = torch.sin(torch.arange(0, 121) * 0.4).view(1, 121, 1)
lstm, fc = nn.LSTM(1, 16, batch_first=True), nn.Linear(16, 1)
optimizer = torch.optim.Adam([*lstm.parameters(), *fc.parameters()], lr=0.02)
history = []
for epoch in range(3):
    state = None
    for start in range(0, 120, 12):
        out, state = lstm(series[:, start : start + 12], state)
        state = tuple(s.detach() for s in state)
        loss = (fc(out) - series[:, start + 1 : start + 13]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
