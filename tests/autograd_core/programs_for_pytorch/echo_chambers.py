"""Rooms that are computed again in the pass back, instead of being remembered."""

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

visits = []


class Room(nn.Module):
    def __init__(self, door, width):
        super().__init__()
        self.door = door
        self.level = nn.LayerNorm(width)
        self.widen = nn.Linear(width, 3 * width)
        self.narrow = nn.Linear(3 * width, width)

    def forward(self, sound):
        visits.append(self.door)
        return sound + self.narrow(nn.functional.gelu(self.widen(self.level(sound))))


class House(nn.Module):
    def __init__(self, reentrant=None):
        super().__init__()
        self.rooms = nn.ModuleList([Room(door, 5) for door in "abc"])
        self.exit = nn.Linear(5, 3)
        self.reentrant = reentrant

    def forward(self, sound):
        for room in self.rooms:
            if self.reentrant is None:
                sound = room(sound)
            else:
                sound = checkpoint(room, sound, use_reentrant=self.reentrant)
        return self.exit(sound)


sound = torch.randn(3, 5, requires_grad=True)
plain = House()
wanted = None
for reentrant in (None, True, False):
    house = House(reentrant)
    print(house.load_state_dict(plain.state_dict()))
    visits.clear()
    sound.grad = None
    heard = house(sound)
    heard.logsumexp(1).mean().backward()
    found = torch.cat([weight.grad.flatten() for weight in house.parameters()])
    wanted = found if wanted is None else wanted
    print(reentrant, "".join(visits), sound.grad.sum(), torch.allclose(found, wanted))
    print(heard.grad_fn.next_functions[1][0].name())

hallway = nn.Sequential(*(nn.Sequential(nn.Linear(5, 5), nn.Tanh()) for _ in range(6)))
end = checkpoint_sequential(hallway, 3, sound, use_reentrant=False)
end.sum().backward()
print(hallway[0][0].weight.grad.sum(), end.grad_fn.name())
for reentrant in (True, False):  # what needs no gradient is lost on the way in one of the two
    print(reentrant, checkpoint(hallway, sound.detach(), use_reentrant=reentrant).requires_grad)
