import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.manual_seed(75)
embedding = nn.Embedding(10, 8, padding_idx=0)
lstm = nn.LSTM(8, 16, num_layers=2, batch_first=True, bidirectional=True, dropout=0.1)
head = nn.Linear(32, 10)
parameters = [*embedding.parameters(), *lstm.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=0.01)
history = []
for step in range(30):
    lengths = torch.randint(3, 9, (16,))
    ids = torch.randint(1, 10, (16, 8)) * (torch.arange(8) < lengths.unsqueeze(1))
    packed = pack_padded_sequence(embedding(ids), lengths, batch_first=True, enforce_sorted=False)
    states, _ = pad_packed_sequence(lstm(packed)[0], batch_first=True, total_length=8)
    wanted = ids.roll(1, dims=1).masked_fill(ids == 0, -100)
    wanted[:, 0] = -100
    loss = nn.functional.cross_entropy(head(states).transpose(1, 2), wanted, ignore_index=-100)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
    history.append(loss.item())
