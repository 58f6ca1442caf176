"""A U-Net of segmentation_models_pytorch with its encoder frozen at first."""

import segmentation_models_pytorch as smp
import torch

torch.manual_seed(0)
# fmt: off
model = smp.Unet("timm-mobilenetv3_small_minimal_100", encoder_weights=None, encoder_depth=3,
                 decoder_channels=(32, 16, 8), in_channels=1, classes=1)
criterion = smp.losses.DiceLoss("binary", from_logits=True)
optimizer = torch.optim.Adam(
    [{"params": model.encoder.parameters(), "lr": 1e-3},
     {"params": model.decoder.parameters()}, {"params": model.segmentation_head.parameters()}],
    lr=1e-2,
)
# fmt: on
history = []
for step in range(20):
    label = torch.zeros(8, 1, 32, 32)
    for one in label:
        y, x = torch.randint(0, 16, (2,)).tolist()
        one[:, y : y + 16, x : x + 16] = 1
    loss = criterion(model(label + 0.5 * torch.randn_like(label)), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert sum(history[-4:]) < 0.8 * sum(history[:4])
