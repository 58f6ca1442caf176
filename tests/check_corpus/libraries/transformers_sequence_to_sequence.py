"""Teach a small T5 to reverse a sequence; padding of the labels is ignored."""

import torch
from transformers import Adafactor, T5Config, T5ForConditionalGeneration

torch.manual_seed(0)
config = T5Config(
    vocab_size=32,
    d_model=32,
    d_kv=8,
    d_ff=64,
    num_layers=2,
    num_heads=4,
    decoder_start_token_id=0,
)
model = T5ForConditionalGeneration(config)
optimizer = Adafactor(model.parameters(), lr=1e-2, relative_step=False, scale_parameter=False)
history = []
for step in range(30):
    source = torch.randint(2, 32, (16, 6))
    target = source.flip(1)
    lengths = torch.randint(3, 7, (16, 1))
    labels = target.masked_fill(torch.arange(6) >= lengths, -100)
    loss = model(input_ids=source, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.9 * history[0]
