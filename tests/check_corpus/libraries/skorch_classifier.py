"""A net as an estimator of scikit-learn, with early stopping and a validation split."""

import numpy as np
import torch
from skorch import NeuralNetClassifier
from skorch.callbacks import EarlyStopping, LRScheduler
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(200, 6)).astype(np.float32)
y = (x[:, 0] * x[:, 1] > 0).astype(np.int64)
net = NeuralNetClassifier(
    nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2)),
    criterion=nn.CrossEntropyLoss,
    optimizer=torch.optim.Adam,
    lr=1e-2,
    max_epochs=15,
    batch_size=32,
    callbacks=[EarlyStopping(patience=5), LRScheduler("StepLR", step_size=10)],
    verbose=0,
)
net.fit(x, y)
assert net.history[-1, "train_loss"] < 0.8 * net.history[0, "train_loss"]
