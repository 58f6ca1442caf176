import copy
import torch
import torch.nn as nn

backbone = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
head = nn.Linear(8, 2)
model = nn.Sequential(backbone, head)
for param in backbone.parameters():
    param.requires_grad = False
backbone.eval()
print([n for n, p in model.named_parameters() if p.requires_grad])
ema = copy.deepcopy(model)
for p in ema.parameters():
    p.requires_grad_(False)
opt = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1)
x, y = torch.randn(6, 4), torch.tensor([0, 1, 0, 1, 1, 0])


@torch.no_grad()
def update(m, e, decay=0.9):
    for p, q in zip(m.parameters(), e.parameters()):
        q.mul_(decay).add_(p, alpha=1 - decay)
    for (n, b), (_, c) in zip(m.named_buffers(), e.named_buffers()):
        c.copy_(b)


for _ in range(4):
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    update(model, ema)
    print(loss.item())
print([p.grad is None for p in model.parameters()])
print(ema[1].weight)
print(backbone[1].running_mean, backbone[1].num_batches_tracked)
out = backbone(x)
print(out.requires_grad, out.grad_fn)
head.weight.requires_grad = False
loss = nn.functional.cross_entropy(model(x), y)
print(loss.requires_grad, [f[0].name() if f[0] else None for f in head(out).grad_fn.next_functions])
for p in model.parameters():
    p.requires_grad = False
loss = nn.functional.cross_entropy(model(x), y)
try:
    loss.backward()
except RuntimeError as e:
    print(e)
try:
    (head.weight * 2).requires_grad
    w = nn.Parameter(torch.ones(2))
    (w * 2).requires_grad = False
except RuntimeError as e:
    print(e)
opt = torch.optim.Adam([{'params': backbone.parameters(), 'lr': 1e-4}, {'params': head.parameters()}], lr=1e-2)
print([g['lr'] for g in opt.param_groups], len(opt.param_groups[0]['params']))
for p in model.parameters():
    p.requires_grad = True
model.train()
for _ in range(2):
    opt.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    opt.step()
print(opt)
print(sorted(opt.state_dict()), sorted(opt.state_dict()['state'][0]))
swa = torch.optim.swa_utils.AveragedModel(model)
swa.update_parameters(model)
print(int(swa.n_averaged))
model.requires_grad_(False)
print(any(p.requires_grad for p in model.parameters()))
