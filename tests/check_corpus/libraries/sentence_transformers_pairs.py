"""Learn embeddings of sentences from pairs, with the other pairs of a batch as negatives."""

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.losses import MultipleNegativesRankingLoss
from sentence_transformers.models import BoW, Dense, Normalize

torch.manual_seed(0)
words = [f"{kind}{number}" for kind in ("ask", "tell") for number in range(16)]
bag = BoW(vocab=words)
dense = Dense(len(words), 16, activation_function=torch.nn.Tanh())
model = SentenceTransformer(modules=[bag, dense, Normalize()], device="cpu")
criterion = MultipleNegativesRankingLoss(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-2)


def batch():
    topics = torch.randperm(16)[:8].tolist()
    pairs = [f"ask{n}" for n in topics], [f"tell{n}" for n in topics]
    return [model.preprocess(sentences) for sentences in pairs]


model.train()
history = []
for step in range(30):
    loss = criterion(batch(), None)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.5 * history[0]
