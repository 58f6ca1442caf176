"""A new chef cooks with an old kitchen that must not change, and a third one follows slowly."""

import copy

import torch
import torch.nn as nn

kitchen = nn.Sequential(nn.Linear(5, 6), nn.BatchNorm1d(6), nn.ReLU())
chef = nn.Linear(6, 3)
restaurant = nn.Sequential(kitchen, chef)
for part in kitchen.parameters():
    part.requires_grad = False
kitchen.eval()
print([name for name, part in restaurant.named_parameters() if part.requires_grad])
branch = copy.deepcopy(restaurant)
for part in branch.parameters():
    part.requires_grad_(False)
paid = filter(lambda part: part.requires_grad, restaurant.parameters())
sgd = torch.optim.SGD(paid, lr=0.2)
goods, orders = torch.randn(5, 5), torch.tensor([2, 0, 1, 1, 2])


@torch.no_grad()
def follow(leader, follower, pace):
    for new, old in zip(leader.parameters(), follower.parameters()):
        old.mul_(1 - pace).add_(new, alpha=pace)
    for (_, new), (_, old) in zip(leader.named_buffers(), follower.named_buffers()):
        old.copy_(new)


for night in range(3):
    complaints = nn.functional.cross_entropy(restaurant(goods), orders)
    sgd.zero_grad()
    complaints.backward()
    sgd.step()
    follow(restaurant, branch, pace=0.3)
    print(night, complaints.item())
print([part.grad is None for part in restaurant.parameters()], branch[1].weight[0])
print(kitchen[1].running_mean, kitchen[1].num_batches_tracked)

prepared = kitchen(goods)
print(prepared.requires_grad, prepared.grad_fn)
chef.weight.requires_grad = False
print([edge[0].name() if edge[0] else None for edge in chef(prepared).grad_fn.next_functions])
complaints = nn.functional.cross_entropy(restaurant(goods), orders)
print(complaints.requires_grad)
for part in restaurant.parameters():
    part.requires_grad = False
try:
    nn.functional.cross_entropy(restaurant(goods), orders).backward()
except RuntimeError as error:
    print(error)
try:
    (nn.Parameter(torch.ones(3)) * 3).requires_grad = False
except RuntimeError as error:
    print(error)
print((chef.weight * 3).requires_grad)

wages = [{"params": kitchen.parameters(), "lr": 5e-4}, {"params": chef.parameters()}]
adam = torch.optim.Adam(wages, lr=2e-2)
print([group["lr"] for group in adam.param_groups], len(adam.param_groups[0]["params"]))
for part in restaurant.parameters():
    part.requires_grad = True
restaurant.train()
for _ in range(3):
    adam.zero_grad()
    nn.functional.cross_entropy(restaurant(goods), orders).backward()
    adam.step()
print(adam)
print(sorted(adam.state_dict()), sorted(adam.state_dict()["state"][0]))
mean = torch.optim.swa_utils.AveragedModel(restaurant)
mean.update_parameters(restaurant)
mean.update_parameters(restaurant)
print(int(mean.n_averaged))
restaurant.requires_grad_(False)
print(any(part.requires_grad for part in restaurant.parameters()))
