"""Learns to read handwritten digits: 64 pixels, one hidden layer of 48 units, 10 classes."""

import argparse
import sys
from pathlib import Path

import numpy as np

import autograd_core as torch
import autograd_core.nn.functional as F
from autograd_core import nn, optim

DATA = Path(__file__).parent / "data" / "digits.npz"


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(64, 48)
        self.output = nn.Linear(48, 10)

    def forward(self, pixels):
        return self.output(F.relu(self.hidden(pixels)))


def load_digits(rng):
    """Training and held-out digits, four to one, as (pixels, labels) each."""
    with np.load(DATA) as digits:
        pixels = digits["images"].reshape(-1, 64).astype(np.float32) / 16
        labels = digits["labels"].astype(np.int64)
    order = rng.permutation(len(labels))
    held_out, training = np.split(order, [len(labels) // 5])
    return (pixels[training], labels[training]), (pixels[held_out], labels[held_out])


def train_epoch(model, optimizer, pixels, labels, rng, batch_size=32):
    """One pass over the training digits; returns the mean loss."""
    order = rng.permutation(len(labels))
    total = 0.0
    for start in range(0, len(labels), batch_size):
        batch = order[start : start + batch_size]
        loss = F.cross_entropy(model(torch.tensor(pixels[batch])), torch.tensor(labels[batch]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(labels)


def accuracy(model, pixels, labels):
    with torch.no_grad():
        predicted = model(torch.tensor(pixels)).argmax(dim=1)
    return (predicted.numpy() == labels).mean()


def show_progress(epoch, epochs, loss, width=30):
    """A bar that grows in place on a terminal, and plain lines in a file or a pipe."""
    text = f"epoch {epoch:{len(str(epochs))}}/{epochs}  loss {loss:.4f}"
    if sys.stderr.isatty():
        bar = "█" * (width * epoch // epochs)
        print(f"\r{bar:░<{width}}  {text}", end="\n" if epoch == epochs else "", file=sys.stderr)
    elif epoch == epochs or epoch % 5 == 0:
        print(text, file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    epochs = parser.parse_args().epochs

    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    training, held_out = load_digits(rng)
    model = Classifier()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    for epoch in range(1, epochs + 1):
        loss = train_epoch(model, optimizer, *training, rng)
        show_progress(epoch, epochs, loss)

    correct = accuracy(model, *held_out)
    print(f"accuracy on {len(held_out[1])} held-out digits: {correct:.1%}")


if __name__ == "__main__":
    main()
