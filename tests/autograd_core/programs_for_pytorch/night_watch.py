"""Watchmen at every gate: hooks on tensors, modules, nodes and leaves say what passes."""

import torch
import torch.nn as nn
from torch.autograd.graph import register_multi_grad_hook

lamp = torch.zeros(4, requires_grad=True)
watch = lamp.register_hook(lambda g: g / 2)
light = torch.tensor([8.0, 6.0, 4.0, 2.0])
lamp.backward(light)
print(lamp.grad)
watch.remove()
lamp.backward(light)
print(lamp.grad)

castle = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 2))
outward, inward, posts = {}, {}, []


def shapes(tensors):
    return [None if tensor is None else tuple(tensor.shape) for tensor in tensors]


def note_outward(gate):
    def noted(module, given, made):
        outward[gate] = made.detach()

    return noted


def note_inward(gate):
    def noted(module, to_given, to_made):
        inward[gate] = shapes(to_given), shapes(to_made)

    return noted


for gate, module in castle.named_modules():
    if gate:
        posts.append(module.register_forward_hook(note_outward(gate)))
        posts.append(module.register_full_backward_hook(note_inward(gate)))
left = castle(torch.randn(5, 3))
print(left.grad_fn.name(), left.grad_fn.next_functions[0][0].name())
left.square().mean().backward()
for gate in sorted(outward):
    print(gate, tuple(outward[gate].shape), outward[gate].mean(), inward[gate])
for post in posts:
    post.remove()
print(len(castle[2]._forward_hooks), len(castle[2]._backward_hooks))


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.stairs = nn.Linear(3, 1)

    def forward(self, steps, height=1.0):
        return self.stairs(steps) * height


def before(module, given):
    print("before", type(module).__name__, len(given))
    return (given[0] / 2,)


tower = Tower()
tower.register_forward_pre_hook(before)
tower.register_forward_hook(
    lambda module, given, named, made: print("after", sorted(named)), with_kwargs=True
)
tower.stairs.register_full_backward_pre_hook(
    lambda module, to_made: print("back", module, to_made[0].shape)
)
tower(torch.ones(4, 3), height=5.0).sum().backward()
print(tower.stairs.weight.grad)

moon = torch.rand(3, requires_grad=True)
cloud = moon.sin().clone()
cloud.grad_fn.register_hook(lambda came, went: print("at the node", came, went))
cloud.grad_fn.register_prehook(lambda went: (went[0] - 3,))
cloud.sum().backward()
print(moon.grad)

bell = torch.ones(2, requires_grad=True)


def louder(leaf):
    leaf.grad.mul_(4)


bell.register_post_accumulate_grad_hook(louder)
(bell * 5).sum().backward()
print(bell.grad)
for refused in (
    lambda: bell.detach().register_hook(print),
    lambda: (bell * 5).register_post_accumulate_grad_hook(print),
):
    try:
        refused()
    except RuntimeError as error:
        print(error)

north, south = torch.ones(1, requires_grad=True), torch.full((1,), 2.0, requires_grad=True)
register_multi_grad_hook((north, south), lambda grads: print("from both sides", grads))
(north * south * 3).sum().backward()
bridge = north * 4
register_multi_grad_hook((bridge, south), lambda g: print("from one side", g), mode="any")
bridge.retain_grad()
(bridge * south).sum().backward()
print(bridge.grad, bridge.is_leaf, bridge.retains_grad)
gatherer = north.expand_as(north).grad_fn.next_functions[0][0]
print(gatherer.name(), gatherer.variable is north)
gatherer.register_hook(lambda *_: print("gathered", north.grad))
(north * 7).sum().backward()
