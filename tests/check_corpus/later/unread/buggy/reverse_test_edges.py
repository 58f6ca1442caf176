import torch
import torch.nn.functional as F
from torch import nn


def friendships(people=120, groups=6):
    group = torch.arange(people) % groups
    chance = torch.where(group[:, None] == group[None, :], 0.35, 0.03)
    upper = torch.triu(torch.rand(people, people) < chance, diagonal=1)
    one_way = upper.nonzero().T
    return torch.cat([one_way, one_way.flip(0)], dim=1)


def split_edges(edges, share=0.15):
    order = torch.randperm(edges.size(1))
    held_out = int(share * len(order))
    return edges[:, order[held_out:]], edges[:, order[:held_out]]


class LinkPredictor(nn.Module):
    def __init__(self, people=120, width=32):
        super().__init__()
        self.embed = nn.Embedding(people, width)
        self.lin = nn.Linear(width, width)

    def encode(self, edges):
        x = self.embed.weight
        gathered = torch.zeros_like(x).index_add(0, edges[1], x[edges[0]])
        degree = torch.bincount(edges[1], minlength=len(x)).clamp(min=1)
        return x + torch.tanh(self.lin(gathered / degree.unsqueeze(1)))

    def forward(self, edges, pairs):
        z = self.encode(edges)
        return (z[pairs[0]] * z[pairs[1]]).sum(dim=1)


def strangers(edges, count, people=120):
    known = set(map(tuple, edges.T.tolist()))
    pairs = torch.randint(people, (4 * count, 2)).tolist()
    fresh = [pair for pair in pairs if tuple(pair) not in known and pair[0] != pair[1]]
    return torch.tensor(fresh[:count]).T


@torch.no_grad()
def hit_rate(model, train_edges, test_edges, negatives):
    positive, negative = model(train_edges, test_edges), model(train_edges, negatives)
    return (positive[:, None] > negative[None, :]).float().mean().item()


torch.manual_seed(46)
edges = friendships()
train_edges, test_edges = split_edges(edges)
test_negatives = strangers(edges, test_edges.size(1))
model = LinkPredictor()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(120):
    negatives = strangers(train_edges, train_edges.size(1))
    scores = model(train_edges, torch.cat([train_edges, negatives], dim=1))
    labels = torch.cat([torch.ones(train_edges.size(1)), torch.zeros(negatives.size(1))])
    loss = F.binary_cross_entropy_with_logits(scores, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 30 == 29:
        score = hit_rate(model, train_edges, test_edges, test_negatives)
        print(f"epoch {epoch}: loss {loss.item():.3f}, test AUC {score:.3f}")
