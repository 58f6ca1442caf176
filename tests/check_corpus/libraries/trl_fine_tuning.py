"""Prefer one answer to another: direct preference optimization against a frozen reference."""

import copy

import torch
import torch.nn.functional as F
from transformers import GPT2Config, GPT2LMHeadModel
from trl.trainer.utils import selective_log_softmax

torch.manual_seed(0)
config = GPT2Config(vocab_size=32, n_positions=32, n_embd=32, n_layer=2, n_head=4)
policy = GPT2LMHeadModel(config)
reference = copy.deepcopy(policy).requires_grad_(False).eval()
optimizer = torch.optim.RMSprop(policy.parameters(), lr=1e-3)


def log_probability(model, ids):
    logits = model(input_ids=ids).logits[:, :-1]
    return selective_log_softmax(logits, ids[:, 1:])[:, 3:].sum(1)


history = []
for step in range(15):
    prompt = torch.randint(0, 32, (8, 4))
    chosen = torch.cat([prompt, torch.randint(0, 8, (8, 4))], 1)
    rejected = torch.cat([prompt, torch.randint(8, 32, (8, 4))], 1)
    with torch.no_grad():
        expected = log_probability(reference, chosen) - log_probability(reference, rejected)
    margin = log_probability(policy, chosen) - log_probability(policy, rejected)
    loss = -F.logsigmoid(0.5 * (margin - expected)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.9 * history[0]
