import torch
import torch.nn as nn

torch.manual_seed(1)
images = torch.randn(64, 10)
labels = (images[:, 0] > 0).long()

model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()

for epoch in range(20):
    optimizer.zero_grad()
    output = model(images).argmax(dim=1)
    loss = nn.functional.l1_loss(output.float(), labels.float())
    loss.requires_grad = True  # element 0 of tensors does not require grad
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
