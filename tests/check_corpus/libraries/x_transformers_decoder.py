"""An autoregressive decoder of x-transformers, with rotary positions and a tied embedding."""

import torch
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

torch.manual_seed(0)
layers = Decoder(dim=32, depth=2, heads=4, rotary_pos_emb=True, ff_glu=True, use_rmsnorm=True)
net = TransformerWrapper(num_tokens=32, max_seq_len=32, attn_layers=layers, tie_embedding=True)
model = AutoregressiveWrapper(net)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95))
history = []
for step in range(30):
    ids = (torch.randint(0, 32, (16, 1)) + 3 * torch.arange(13)) % 32
    loss = model(ids)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.7 * history[0]
