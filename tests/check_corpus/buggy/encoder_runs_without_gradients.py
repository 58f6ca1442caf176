import torch
import torch.nn as nn

torch.manual_seed(43)


class VisionTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Conv2d(3, 8, kernel_size=4, stride=4)

    @torch.no_grad()
    def forward(self, images):
        return torch.relu(self.proj(images)).flatten(1)


class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = VisionTower()
        self.head = nn.Linear(32, 5)

    def forward(self, images):
        return self.head(self.tower(images))


model = Captioner()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)  # fine-tune the tower, too
images, words = torch.randn(16, 3, 8, 8), torch.randint(5, (16,))
for step in range(12):
    loss = nn.functional.cross_entropy(model(images), words)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
