import torch
import torch.nn as nn

torch.manual_seed(113)
embedding, output = nn.Embedding(12, 8), nn.Linear(8, 12)
optimizer = torch.optim.Adam([*embedding.parameters(), *output.parameters()], lr=1e-2)
criterion = nn.CrossEntropyLoss(ignore_index=0)
words = torch.zeros(12, 6, dtype=torch.long)
for row in range(12):
    length = 0 if row == 9 else 3 + row % 4
    words[row, :length] = torch.randint(1, 12, (length,))
history = []
for row in range(12):
    sentence = words[row]
    loss = criterion(output(embedding(sentence[:-1])), sentence[1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
print(history)
