"""What a graph saves is handed in at a cloakroom: pressed flat, noted, changed, or refused."""

import weakref
import zlib

import numpy as np
import torch

saved_tensors_hooks = torch.autograd.graph.saved_tensors_hooks
hangers = weakref.WeakSet()


class Hanger:
    """A coat that is pressed flat, for as long as its graph needs it."""

    def __init__(self, coat):
        values = coat.detach().numpy()
        self.flat, self.sizes = zlib.compress(values.tobytes()), values.shape
        self.kind = values.dtype
        hangers.add(self)

    def coat(self):
        values = np.frombuffer(zlib.decompress(self.flat), self.kind)
        return torch.from_numpy(values.reshape(self.sizes).copy())


guests = torch.randn(6, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(Hanger, Hanger.coat):
    dance = guests.pow(3) * guests.cos()
print(len(hangers), "coats")
dance.sum().backward()
wanted = 3 * guests**2 * guests.cos() - guests**3 * guests.sin()
print(torch.allclose(guests.grad, wanted))
print(len(hangers), "coats left")
del dance

book = []


def noted(coat):
    book.append((tuple(coat.shape), coat.is_leaf, coat.requires_grad))
    return coat


hat = torch.full((4,), 2.0, requires_grad=True)
scarf = torch.ones(4, requires_grad=True) * 3
with saved_tensors_hooks(noted, lambda coat: coat / 4):
    dressed = hat * scarf
dressed.sum().backward()
print(book, hat.grad)

guests = torch.randn(4, requires_grad=True)
squared = guests.pow(2)
kept = squared.grad_fn._saved_self
print(guests.equal(kept), kept is guests)
grown = guests.exp()
kept = grown.grad_fn._saved_result
print(grown.equal(kept), kept is grown)
grown.grad_fn._raw_saved_result.register_hooks(
    lambda coat: coat.detach().numpy().copy() if coat.requires_grad else coat.numpy(),
    lambda packed: torch.tensor(packed),
)
grown.sum().backward()
print(torch.allclose(guests.grad, guests.exp()))


def attempt(action):
    try:
        print("went well", action())
    except Exception as error:
        print(type(error).__name__, error)


def closed():
    refuse = torch.autograd.graph.disable_saved_tensors_hooks
    with refuse("closed today"), saved_tensors_hooks(noted, noted):
        pass


def squeezed():
    with saved_tensors_hooks(lambda coat: coat.mul_(2), lambda coat: coat):
        return guests.pow(2)


def swapped():
    with saved_tensors_hooks(lambda coat: "umbrella", lambda ticket: ticket):
        umbrella = guests.pow(4)
    umbrella.sum().backward()


attempt(lambda: grown.grad_fn._saved_result)
attempt(closed)
attempt(squeezed)
attempt(swapped)
with torch.autograd.graph.save_on_cpu(pin_memory=False):
    moved = (guests * guests).sigmoid()
moved.sum().backward()
raw = guests.pow(2).grad_fn._raw_saved_self
print(type(raw).__name__)
try:
    raw.register_hooks(lambda: "no coat", lambda coat: coat)
except Exception as error:
    print(type(error).__name__)
