"""Programs that use PyTorch, of every kind that makes graphs of its own; each returns its root."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


def mlp() -> Any:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    return model(torch.randn(16, 4)).square().mean()


def convolution_with_skip() -> Any:
    conv, norm = nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3)
    x = torch.randn(2, 3, 8, 8)
    return F.max_pool2d(F.relu(norm(conv(x)) + x), 2).mean()


def lstm() -> Any:
    out, _ = nn.LSTM(3, 4, num_layers=2)(torch.randn(5, 2, 3))
    return out.sum()


def views_and_in_place() -> Any:
    x = torch.randn(4, 4, requires_grad=True)
    y = x * 2
    y[1:3].mul_(3)
    y.view(-1)[0] = 0.5
    return y.exp().sum()


ALL: tuple[Callable[[], Any], ...] = (mlp, convolution_with_skip, lstm, views_and_in_place)
