import torch
import torch.nn as nn

torch.manual_seed(35)
T, N, C = 6, 3, 5
frames = torch.randn(T, N, 7)
targets = torch.tensor([[1, 2, 3, 0, 0, 0, 0], [2, 2, 4, 1, 3, 1, 2], [4, 1, 0, 0, 0, 0, 0]])
target_lengths = torch.tensor([3, 7, 2])
input_lengths = torch.full((N,), T)

model = nn.Linear(7, C)
ctc = nn.CTCLoss(blank=0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    log_probs = model(frames).log_softmax(2)
    loss = ctc(log_probs, targets, input_lengths, target_lengths)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
