import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(76)


def onehot_from_logits(logits):
    return F.one_hot(logits.argmax(dim=1), logits.size(1)).float()


policy = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
critic = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
policy_optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
for step in range(20):
    obs = torch.randn(32, 5)
    reward = obs[:, :3].sum(dim=1, keepdim=True)
    acts = onehot_from_logits(policy(obs))
    vf_loss = F.mse_loss(critic(torch.cat([obs, acts.detach()], 1)), reward)
    critic_optimizer.zero_grad()
    vf_loss.backward()
    critic_optimizer.step()

    pol_loss = -critic(torch.cat([obs, acts], 1)).mean()
    policy_optimizer.zero_grad()
    pol_loss.backward()
    policy_optimizer.step()
print(vf_loss.item(), pol_loss.item())
