import torch
import torch.nn as nn
import torch.nn.functional as F


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, 2, 1), nn.ReLU()
        )
        self.down = nn.Sequential(nn.Conv2d(8, 8, 3, 2, 1), nn.ReLU())
        self.heads = nn.ModuleList(nn.Conv2d(8, 3, 1) for _ in range(2))

    def forward(self, image):
        fine = self.body(image)
        coarse = self.down(fine)
        said = [head(part).flatten(2) for head, part in zip(self.heads, (fine, coarse))]
        return torch.cat(said, dim=2)  # the sizes of a box, and whether there is one


torch.manual_seed(81)
model = Detector()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
history = []
for step in range(40):
    image, cell = 0.1 * torch.rand(8, 1, 8, 8), torch.zeros(8, 20)
    size = torch.randint(1, 4, (8, 2))
    chosen = []
    for number, (height, width) in enumerate(size.tolist()):
        y, x = torch.randint(0, 5, (2,)).tolist()
        image[number, 0, y : y + height, x : x + width] += 1
        is_large = height * width > 4
        place = 16 + y // 4 * 2 + x // 4 if is_large else y // 2 * 4 + x // 2
        cell[number, place] = 1
        chosen.append(place)
    said = model(image)
    boxes = said[torch.arange(8), :2, torch.tensor(chosen)]
    loss = F.smooth_l1_loss(boxes, size.float())
    loss = loss + F.binary_cross_entropy_with_logits(said[:, 2], cell)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
