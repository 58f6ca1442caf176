"""Segment blobs with a U-Net of MONAI: a Dice loss, with deep supervision by hand."""

import torch
from monai.losses import DiceCELoss
from monai.networks.nets import UNet

torch.manual_seed(0)
model = UNet(
    spatial_dims=2, in_channels=1, out_channels=2, channels=(8, 16, 32), strides=(2, 2),
    num_res_units=1, norm="batch",
)  # fmt: skip
criterion = DiceCELoss(to_onehot_y=True, softmax=True)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-5)
history = []
for step in range(20):
    middle = torch.randint(8, 24, (4, 2, 1, 1))
    y, x = torch.meshgrid(torch.arange(32), torch.arange(32), indexing="ij")
    label = ((y - middle[:, 0]) ** 2 + (x - middle[:, 1]) ** 2 < 36).long().unsqueeze(1)
    image = label + 0.5 * torch.randn(4, 1, 32, 32)
    loss = criterion(model(image), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.6 * history[0]
