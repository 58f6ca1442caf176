import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(81)


class PolicyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 16)
        self.affine2 = nn.Linear(16, 2)

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.affine1(x))), dim=-1)


policy = PolicyNet()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
saved_log_probs, rewards = [], []
for t in range(12):
    m = torch.distributions.Categorical(policy(torch.randn(4)))
    action = m.sample()
    saved_log_probs.append(m.log_prob(action))
    rewards.append(float(action.item()))

returns = torch.tensor(rewards) - 0.5
policy_loss = -(torch.tensor(saved_log_probs) * returns).sum()
optimizer.zero_grad()
policy_loss.backward()
optimizer.step()
