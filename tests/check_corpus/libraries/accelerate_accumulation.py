"""Accumulate gradients over batches with Accelerate, in bfloat16."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
accelerator = Accelerator(cpu=True, mixed_precision="bf16", gradient_accumulation_steps=2)
model = nn.Sequential(nn.Linear(4, 32), nn.GELU(), nn.Linear(32, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x = torch.randn(128, 4)
data = DataLoader(TensorDataset(x, x.prod(1, keepdim=True).tanh()), 16, shuffle=True)
schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=20)
model, optimizer, data, schedule = accelerator.prepare(model, optimizer, data, schedule)
history = []
for epoch in range(8):
    total = 0.0
    for inputs, targets in data:
        with accelerator.accumulate(model):
            loss = nn.functional.mse_loss(model(inputs), targets)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        total += loss.item()
    history.append(total)
assert history[-1] < 0.9 * history[0]
