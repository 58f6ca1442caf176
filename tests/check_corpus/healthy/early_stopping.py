import copy

import torch
import torch.nn as nn

torch.manual_seed(68)
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.3, patience=2)
x = torch.randn(120, 10)
y = (x[:, :1] + 0.5 * x[:, 1:2]).tanh() + 0.2 * torch.randn(120, 1)
best, kept, waited, history = float("inf"), None, 0, []
for epoch in range(60):
    model.train()
    for rows in torch.randperm(80).split(16):
        loss = nn.functional.smooth_l1_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        held_out = nn.functional.smooth_l1_loss(model(x[80:]), y[80:]).item()
    plateau.step(held_out)
    history.append(held_out)
    if held_out < best:
        best, kept, waited = held_out, copy.deepcopy(model.state_dict()), 0
    else:
        waited += 1
        if waited == 6:
            break
model.load_state_dict(kept)
