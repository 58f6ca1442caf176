"""Train with an engine of Ignite: handlers, a metric, and learning rates that warm up."""

import torch
from ignite.engine import Engine, Events, create_supervised_evaluator
from ignite.handlers import LRScheduler, create_lr_scheduler_with_warmup
from ignite.metrics import Loss
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(128, 4)
data = DataLoader(TensorDataset(x, x.norm(dim=1, keepdim=True)), 16, shuffle=True)
model = nn.Sequential(nn.Linear(4, 32), nn.SiLU(), nn.Linear(32, 1))
criterion = nn.HuberLoss()
optimizer = torch.optim.NAdam(model.parameters(), lr=5e-3)


def update(engine, batch):
    model.train()
    inputs, targets = batch
    loss = criterion(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


trainer = Engine(update)
evaluator = create_supervised_evaluator(model, {"loss": Loss(criterion)})
falling = LRScheduler(torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99))
warm_up = create_lr_scheduler_with_warmup(falling, 1e-3, 8)
trainer.add_event_handler(Events.ITERATION_STARTED, warm_up)
history = []


@trainer.on(Events.EPOCH_COMPLETED)
def evaluate(engine):
    history.append(evaluator.run(data).metrics["loss"])


trainer.run(data, max_epochs=6)
assert history[-1] < 0.7 * history[0]
