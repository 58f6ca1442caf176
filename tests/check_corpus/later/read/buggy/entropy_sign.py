import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


class Shop:
    """Eight offers: the first always sells a little, one of the others suits the customer."""

    def __init__(self, kinds=7):
        self.kinds = kinds

    def customers(self, count):
        self.kind = torch.randint(self.kinds, (count,))
        return F.one_hot(self.kind, self.kinds).float()

    def sell(self, offer):
        suits = (offer == self.kind + 1).float()
        return suits + 0.4 * (offer == 0).float() + 0.1 * torch.randn(len(offer))


class ActorCritic(nn.Module):
    def __init__(self, inputs=7, actions=8, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.Tanh())
        self.actor = nn.Linear(width, actions)
        self.critic = nn.Linear(width, 1)

    def forward(self, state):
        hidden = self.body(state)
        return Categorical(logits=self.actor(hidden)), self.critic(hidden).squeeze(-1)


def update(model, optimizer, state, shop, entropy_weight=0.1):
    policy, value = model(state)
    action = policy.sample()
    reward = shop.sell(action)
    advantage = (reward - value).detach()
    policy_loss = -(policy.log_prob(action) * advantage).mean()
    value_loss = F.mse_loss(value, reward)
    entropy = policy.entropy().mean()
    loss = policy_loss + 0.5 * value_loss + entropy_weight * entropy
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    return reward.mean().item(), entropy.item()


def evaluate(model, shop):
    with torch.no_grad():
        policy, _ = model(shop.customers(500))
        return shop.sell(policy.logits.argmax(dim=1)).mean().item()


torch.manual_seed(8)
shop, model = Shop(), ActorCritic()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for iteration in range(300):
    reward, entropy = update(model, optimizer, shop.customers(64), shop)
    if iteration % 60 == 59:
        print(f"iteration {iteration}: training reward {reward:.3f}, entropy {entropy:.3f}")
print(f"reward {evaluate(model, shop):.3f}")
