import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)
images, texts = nn.Linear(10, 6), nn.Linear(8, 6)
logit_scale = nn.Parameter(torch.tensor(2.0))
params = [*images.parameters(), *texts.parameters(), logit_scale]
optimizer = torch.optim.AdamW(params, lr=0.02)
meaning = torch.randn(32, 4)
photo, caption = meaning @ torch.randn(4, 10), meaning @ torch.randn(4, 8)
labels = torch.arange(32)
history = []
for step in range(30):
    i = F.normalize(images(photo), dim=1)
    t = F.normalize(texts(caption), dim=1)
    logits = logit_scale.exp() * i @ t.T
    loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        logit_scale.clamp_(0, 4.6)
    history.append(loss.item())
