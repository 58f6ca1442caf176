import torch
import torch.nn as nn

LOG_STD_MIN, LOG_STD_MAX = -5.0, 2.0
torch.manual_seed(33)


class GaussianActor(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = nn.Linear(3, 2)
        self.log_std = nn.Parameter(torch.full((2,), -20.0))

    def forward(self, obs):
        log_std = torch.clamp(self.log_std, LOG_STD_MIN, LOG_STD_MAX)
        return torch.distributions.Normal(self.mu(obs), log_std.exp())


actor = GaussianActor()
optimizer = torch.optim.Adam(actor.parameters(), lr=0.02)
obs = torch.randn(64, 3)
expert = obs[:, :2] * 0.5 + 0.3 * torch.randn(64, 2)
for it in range(30):
    loss = -actor(obs).log_prob(expert).sum(dim=1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item(), actor.log_std.tolist())
