import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim import lr_scheduler
from torch.optim.lr_scheduler import StepLR, ExponentialLR, CosineAnnealingLR, ReduceLROnPlateau, LambdaLR, OneCycleLR, MultiStepLR, SequentialLR, LinearLR

model = nn.Linear(3, 1)
x, y = torch.randn(8, 3), torch.randn(8, 1)


def train(optimizer, scheduler, n=8):
    lrs = []
    for _ in range(n):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        if isinstance(scheduler, ReduceLROnPlateau):
            scheduler.step(loss)
        else:
            scheduler.step()
        lrs.append(round(optimizer.param_groups[0]['lr'], 6))
    print(type(scheduler).__name__, lrs, loss.item())


train(o := optim.SGD(model.parameters(), lr=0.1), StepLR(o, step_size=3, gamma=0.5))
train(o := optim.Adam(model.parameters(), lr=0.1, amsgrad=True), ExponentialLR(o, gamma=0.9))
train(o := optim.AdamW(model.parameters(), lr=0.1), CosineAnnealingLR(o, T_max=5, eta_min=0.01))
train(o := optim.Adadelta(model.parameters(), lr=1.0), ReduceLROnPlateau(o, 'min', patience=1, threshold=0.5))
train(o := optim.RMSprop(model.parameters(), lr=0.01, momentum=0.9, centered=True), LambdaLR(o, lambda epoch: 0.95 ** epoch))
train(o := optim.Adamax(model.parameters(), lr=0.01), OneCycleLR(o, max_lr=0.1, total_steps=10))
train(o := optim.NAdam(model.parameters(), lr=0.01), MultiStepLR(o, [2, 5], gamma=0.1))
o = optim.SGD([{'params': [model.weight], 'lr': 0.3, 'momentum': 0.8}, {'params': [model.bias]}], lr=0.1)
s = SequentialLR(o, [LinearLR(o, start_factor=0.1, total_iters=3), ExponentialLR(o, 0.8)], milestones=[3])
train(o, s)
print(s.get_last_lr(), o.param_groups[1]['momentum'])
o.add_param_group({'params': nn.Parameter(torch.ones(2)), 'lr': 0.5})
print(len(o.param_groups))
try:
    optim.SGD([], lr=0.1)
except ValueError as e:
    print(e)
try:
    optim.SGD(model.parameters(), lr=-1)
except ValueError as e:
    print(e)
try:
    optim.Adam([torch.ones(2) * nn.Parameter(torch.ones(2))])
except ValueError as e:
    print(e)


def closure():
    lb.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    return loss


lb = optim.LBFGS(model.parameters(), lr=0.5, max_iter=5, line_search_fn='strong_wolfe')
for _ in range(3):
    l = lb.step(closure)
print(l.item())
state = lb.state_dict()
print(sorted(state))
opt2 = optim.Adam(model.parameters())
closure_ = lambda: 3.0
print(opt2.step(closure_))
for p in model.parameters():
    p.register_post_accumulate_grad_hook(lambda p: print("acc", tuple(p.shape)))
((model(x) - y) ** 2).mean().backward()
