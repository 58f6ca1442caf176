"""Train a small GPT-2, with tied embeddings, checkpointing and a cosine schedule."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel, get_cosine_schedule_with_warmup

torch.manual_seed(0)
config = GPT2Config(vocab_size=32, n_positions=32, n_embd=32, n_layer=2, n_head=4)
model = GPT2LMHeadModel(config)
model.gradient_checkpointing_enable()
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
schedule = get_cosine_schedule_with_warmup(optimizer, 3, 30)
history = []
for step in range(30):
    start = torch.randint(0, 32, (16, 1))
    ids = (start + torch.arange(12)) % 32  # each token follows from the one before
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    history.append(loss.item())
assert history[-1] < 0.7 * history[0]
