import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
target = copy.deepcopy(q)
target.load_state_dict(q.state_dict())
opt = torch.optim.AdamW(q.parameters(), lr=1e-3, amsgrad=True)
memory = [(torch.randn(1, 4), torch.tensor([[i % 3]]), torch.randn(1, 4) if i % 4 else None, torch.tensor([float(i)])) for i in range(8)]
for it in range(3):
    states, actions, nexts, rewards = zip(*memory)
    non_final_mask = torch.tensor(tuple(map(lambda s: s is not None, nexts)), dtype=torch.bool)
    non_final = torch.cat([s for s in nexts if s is not None])
    state_batch, action_batch, reward_batch = torch.cat(states), torch.cat(actions), torch.cat(rewards)
    sa = q(state_batch).gather(1, action_batch)
    nv = torch.zeros(8)
    with torch.no_grad():
        nv[non_final_mask] = target(non_final).max(1).values
    expected = nv * 0.99 + reward_batch
    loss = nn.SmoothL1Loss()(sa, expected.unsqueeze(1))
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(q.parameters(), 100)
    opt.step()
    tsd, qsd = target.state_dict(), q.state_dict()
    for key in qsd:
        tsd[key] = qsd[key] * 0.1 + tsd[key] * 0.9
    target.load_state_dict(tsd)
    print(it, loss.item())
print(sa.grad_fn.name(), loss.grad_fn.name(), q(states[0]).max(1)[1].view(1, 1))
# PPO clip
logits = torch.randn(5, 3, requires_grad=True)
old = F.log_softmax(logits.detach() + 0.3 * torch.randn(5, 3), -1)
act = torch.tensor([0, 1, 2, 1, 0])
adv = torch.randn(5)
lp = F.log_softmax(logits, -1)[torch.arange(5), act]
ratio = (lp - old[range(5), act]).exp()
surr = torch.min(ratio * adv, torch.clamp(ratio, 1 - 0.2, 1 + 0.2) * adv)
(-surr.mean()).backward()
print(logits.grad)
rewards, R = [1.0, 0.0, 2.0], 0
disc = []
for r in rewards[::-1]:
    R = r + 0.9 * R
    disc.insert(0, R)
disc = torch.tensor(disc)
print((disc - disc.mean()) / (disc.std() + 1e-8))
try:
    target.load_state_dict({"0.weight": torch.zeros(2, 2)})
except RuntimeError as e:
    print(e)
print(target.load_state_dict({}, strict=False))
