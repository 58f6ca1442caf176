"""The cost of ``gradstep check`` on PyTorch, by whole commands.

    python benchmarks/check.py [REPETITIONS]

Ratios to the same script without gradstep, of the CPU seconds of the whole process: the smallest of
some interleaved repetitions, one thread.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

TRANSFORMER = """\
import torch
from torch import nn
torch.manual_seed(0)

class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        heads = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1)
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))

class Model(nn.Module):
    def __init__(self, words=200, width=128, length=64):
        super().__init__()
        self.token, self.place = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, 4) for _ in range(4))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, ids):
        x = self.token(ids) + self.place(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
data = (torch.randint(0, 200, (512, 1)) + 3 * torch.arange(65)) % 200
for step in range(200):
    batch = data[torch.randint(0, 512, (8,))]
    logits = model(batch[:, :-1]).flatten(0, 1)
    loss = nn.functional.cross_entropy(logits, batch[:, 1:].flatten())
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""
SCRIPTS = {"a transformer, steps of 40 ms": TRANSFORMER}


def seconds(command: list[str], folder: str) -> float:
    """Return the CPU seconds of a process."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    before = os.times()
    subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, check=True
    )
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def main(repetitions: int) -> None:
    for name, script in SCRIPTS.items():
        plain, checked = [], []
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "train.py").write_text(script, "utf-8")
            for _ in range(repetitions):
                plain.append(seconds(["train.py"], folder))
                checked.append(seconds(["-m", "gradstep", "check", "train.py"], folder))
        print(f"{name:30} {min(checked) / min(plain):.2f}  ({min(plain):.1f} s plainly)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
