"""A LightningModule with validation, early stopping and a plateau schedule."""

import logging
import warnings

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import EarlyStopping
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", module="pytorch_lightning")


class Regression(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 1))
        self.losses = []

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.smooth_l1_loss(self.net(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        self.log("val_loss", nn.functional.smooth_l1_loss(self.net(x), y))

    def on_validation_epoch_end(self):
        self.losses.append(self.trainer.callback_metrics["val_loss"].item())

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), 1e-2)
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
        return {"optimizer": optimizer, "lr_scheduler": plateau, "monitor": "val_loss"}


pl.seed_everything(0, verbose=False)
x = torch.randn(160, 4)
y = x.sum(1, keepdim=True).tanh()
train = DataLoader(TensorDataset(x[:128], y[:128]), 16, shuffle=True)
test = DataLoader(TensorDataset(x[128:], y[128:]), 32)
model = Regression()
trainer = pl.Trainer(
    max_epochs=8,
    gradient_clip_val=1.0,
    callbacks=[EarlyStopping("val_loss", patience=4)],
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(model, train, test)
assert min(model.losses) < 0.8 * model.losses[0]
