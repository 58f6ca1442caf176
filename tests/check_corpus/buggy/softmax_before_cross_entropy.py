import torch
import torch.nn as nn


def make_model():
    return nn.Sequential(
        nn.Linear(4, 32),
        nn.ReLU(),
        nn.Linear(32, 3),
        nn.Softmax(dim=1),
    )


def train(model, inputs, labels, epochs=60):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    history = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return history


if __name__ == "__main__":
    torch.manual_seed(24)
    centers = torch.tensor([[3.0, 0, 0, 0], [0, 3.0, 0, 0], [0, 0, 3.0, 0]])
    labels = torch.arange(60) % 3
    history = train(make_model(), centers[labels] + 0.3 * torch.randn(60, 4), labels)
    print(history[0], history[-1])
