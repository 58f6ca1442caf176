import torch
import torch.nn as nn

torch.manual_seed(67)
model = nn.Sequential(
    nn.Linear(4, 24),
    nn.LeakyReLU(),
    nn.Linear(24, 2),
    nn.Softmax(dim=0),
)
optimizer = torch.optim.Adam(model.parameters(), lr=9e-3)

for episode in range(30):
    state_batch = torch.randn(25, 4)
    action_batch = torch.randint(2, (25, 1))
    reward_batch = (state_batch[:, 0] > 0).float() * action_batch[:, 0]
    pred_batch = model(state_batch)
    prob_batch = pred_batch.gather(dim=1, index=action_batch).squeeze()
    loss = -1 * torch.sum(reward_batch * torch.log(prob_batch))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
