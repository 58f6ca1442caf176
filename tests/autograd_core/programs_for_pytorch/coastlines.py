"""Which pixels of a small aerial picture are land: down to a coarse map, and up again."""

from itertools import pairwise

import torch
import torch.nn as nn
import torch.nn.functional as F


class Survey(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.walks = nn.Sequential(
            nn.Conv2d(before, after, 3, padding=1),
            nn.GroupNorm(3, after),
            nn.SiLU(),
            nn.Conv2d(after, after, 3, padding=1),
            nn.SiLU(),
        )

    def forward(self, picture):
        return self.walks(picture)


class Atlas(nn.Module):
    """Each level keeps what it saw, for the way back up."""

    def __init__(self, channels=(2, 3, 6)):
        super().__init__()
        pairs = list(pairwise(channels))
        self.down = nn.ModuleList(Survey(*pair) for pair in pairs)
        self.wider = nn.ConvTranspose2d(channels[-1], channels[-2], 2, 2)
        self.joined = Survey(2 * channels[-2], channels[-2])
        self.land = nn.Conv2d(channels[-2], 1, 1)

    def forward(self, picture):
        fine = self.down[0](picture)
        coarse = self.wider(self.down[1](F.max_pool2d(fine, 2)))
        missing = [fine.size(axis) - coarse.size(axis) for axis in (3, 2)]
        coarse = F.pad(coarse, [0, missing[0], 0, missing[1]])
        return self.land(self.joined(torch.cat([coarse, fine], dim=1)))


def missed_area(guess, land, little=1e-05):
    both = (guess * land).sum((-1, -2))
    either = (guess + land).sum((-1, -2)) - both
    return (1 - (both + little) / (either + little)).mean()


atlas = Atlas()
pictures = torch.randn(3, 2, 5, 7)
land = (pictures.sum(1, keepdim=True) > 0).float()
adamw = torch.optim.AdamW(atlas.parameters(), lr=0.02)
for flight in range(3):
    guess = atlas(pictures)
    loss = F.binary_cross_entropy_with_logits(guess, land)
    loss = 2 * loss + missed_area(torch.sigmoid(guess), land)
    adamw.zero_grad(set_to_none=True)
    loss.backward()
    adamw.step()
    print(flight, loss)
large = F.interpolate(guess, scale_factor=2, mode="bilinear", align_corners=False)
small = F.interpolate(guess, size=(2, 3), mode="nearest")
print(large.shape, large.mean(), small.sum())
