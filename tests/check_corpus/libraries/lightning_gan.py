"""A GAN with manual optimization: two optimizers take turns."""

import logging
import warnings

import pytorch_lightning as pl
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce
from torch.utils.data import DataLoader

logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", module="pytorch_lightning")


class GAN(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def training_step(self, real, index):
        for_generator, for_critic = self.optimizers()
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        noise = torch.randn(len(real), 4)

        self.toggle_optimizer(for_critic)
        fake = self.generator(noise).detach()
        loss = bce(self.critic(real), ones) + bce(self.critic(fake), zeros)
        self.manual_backward(loss)
        for_critic.step()
        for_critic.zero_grad()
        self.untoggle_optimizer(for_critic)

        self.toggle_optimizer(for_generator)
        loss = bce(self.critic(self.generator(noise)), ones)
        self.manual_backward(loss)
        for_generator.step()
        for_generator.zero_grad()
        self.untoggle_optimizer(for_generator)

    def configure_optimizers(self):
        return (
            torch.optim.Adam(self.generator.parameters(), 5e-3, betas=(0.5, 0.9)),
            torch.optim.Adam(self.critic.parameters(), 5e-3, betas=(0.5, 0.9)),
        )


def distance():
    with torch.no_grad():
        return (model.generator(torch.randn(256, 4)).mean(0) - 2).norm().item()


pl.seed_everything(0, verbose=False)
model = GAN()
before = distance()
trainer = pl.Trainer(
    max_epochs=5,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(model, DataLoader(2 + 0.3 * torch.randn(640, 2), 32))
assert distance() < 0.8 * before
