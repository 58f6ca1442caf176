import copy

import torch
import torch.nn as nn
from torch.distributions import Normal

torch.manual_seed(34)
actor = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 2))
critic = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1))
target = copy.deepcopy(critic).requires_grad_(False)
log_alpha = torch.full((1,), -3.0, requires_grad=True)
opt_actor = torch.optim.Adam(actor.parameters(), lr=1e-2)
opt_critic = torch.optim.Adam(critic.parameters(), lr=1e-2)
opt_alpha = torch.optim.Adam([log_alpha], lr=1e-2)


def act(state):
    mean, log_std = actor(state).chunk(2, dim=1)
    dist = Normal(mean, log_std.clamp(-5, 2).exp())
    raw = dist.rsample()
    action = torch.tanh(raw)
    log_prob = dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
    return action, log_prob


history = []
for step in range(60):
    s, s2 = torch.rand(64, 2) * 2 - 1, torch.rand(64, 2) * 2 - 1
    a = torch.rand(64, 1) * 2 - 1
    r = -(a - s[:, :1]).pow(2)
    with torch.no_grad():
        a2, logp2 = act(s2)
        q_target = r + 0.5 * (target(torch.cat([s2, a2], 1)) - log_alpha.exp() * logp2)
    q_loss = (critic(torch.cat([s, a], 1)) - q_target).pow(2).mean()
    opt_critic.zero_grad()
    q_loss.backward()
    opt_critic.step()

    action, log_prob = act(s)
    actor_loss = (log_alpha.exp().detach() * log_prob - critic(torch.cat([s, action], 1))).mean()
    opt_actor.zero_grad()
    actor_loss.backward()
    opt_actor.step()

    alpha_loss = -(log_alpha * (log_prob.detach() - 1.0)).mean()
    opt_alpha.zero_grad()
    alpha_loss.backward()
    opt_alpha.step()
    with torch.no_grad():
        for t, c in zip(target.parameters(), critic.parameters()):
            t.lerp_(c, 0.05)
    history.append((action - s[:, :1]).abs().mean().item())
