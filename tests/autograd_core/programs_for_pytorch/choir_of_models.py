"""Several small models as one: stacked and mapped over, and what their derivatives tell."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, hessian, jacrev, jvp, stack_module_state, vjp, vmap

voices = [nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)) for _ in range(4)]
together, kept = stack_module_state(voices)
score = voices[0]
notes, chords = torch.randn(6, 4), torch.tensor([2, 0, 1, 1, 2, 0])


def sing(weights, kept, notes):
    return functional_call(score, (weights, kept), (notes,))


heard = vmap(sing, in_dims=(0, 0, None))(together, kept, notes)
print(heard.shape, [torch.allclose(one, voice(notes)) for one, voice in zip(heard, voices)])
print({name: tuple(weight.shape) for name, weight in together.items()})
sgd = torch.optim.SGD(together.values(), lr=0.4)
for practice in range(3):
    heard = vmap(sing, in_dims=(0, 0, None))(together, kept, notes)
    loss = F.cross_entropy(heard.flatten(0, 1), chords.repeat(4))
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    print(practice, loss)

solo = {name: weight.detach() for name, weight in score.named_parameters()}


def sung(weights, notes):
    return functional_call(score, weights, (notes,))


def likeness(one, other):
    """How alike two notes look to the weights: products of their jacobians."""
    first, second = (vmap(jacrev(sung), (None, 0))(solo, some) for some in (one, other))
    products = [
        torch.einsum("iak,jbk->ijab", first[name].flatten(2), second[name].flatten(2))
        for name in solo
    ]
    return sum(products)


def likeness_by_products(one, other):
    """The same, with no jacobian as a whole."""

    def of_two(note, another):
        _, pull = vjp(lambda weights: sung(weights, note), solo)

        def column(unit):
            return jvp(lambda weights: sung(weights, another), (solo,), pull(unit))[1]

        return vmap(column)(torch.eye(3))

    return vmap(vmap(of_two, (None, 0)), (0, None))(one, other)


alike = likeness(notes[:3], notes[3:])
print(alike.shape, alike[2, 1])
print(torch.allclose(likeness_by_products(notes[:3], notes[3:]), alike, atol=1e-05))

pitch = notes[0]
bent = jvp(grad(lambda v: v.pow(3).sum()), (pitch,), (torch.full((4,), 2.0),))[1]
print(torch.allclose(bent, 12 * pitch))
print(hessian(lambda v: (v**4).sum())(pitch) - torch.diag(12 * pitch.square()))
loudness = torch.tensor(0.6, requires_grad=True)
slope = grad(lambda v: (loudness * v.cos()).sum())(pitch)
slope.sum().backward()
print(torch.allclose(loudness.grad, -pitch.sin().sum()))

each = vmap(grad(lambda weights, note: sung(weights, note).square().sum()), (None, 0))(solo, notes)
print({name: tuple(one.shape) for name, one in each.items()})
sizes = torch.stack([one.flatten(1).norm(dim=1) for one in each.values()]).norm(dim=0)
damped = (2.0 / sizes).clamp(max=1.0)
print(sizes)
print({name: torch.einsum("n...,n->...", one, damped).norm() for name, one in each.items()})
