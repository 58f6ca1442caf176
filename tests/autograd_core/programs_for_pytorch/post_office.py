"""Letters go to the counters that suit them best; twins and strangers are told apart."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Counters(nn.Module):
    def __init__(self, width, counters, tries):
        super().__init__()
        self.usher = nn.Linear(width, counters, bias=False)
        self.clerks = nn.ModuleList(nn.Linear(width, width) for _ in range(counters))
        self.tries = tries

    def forward(self, letters):
        best, chosen = torch.topk(self.usher(letters), self.tries)
        trust = F.softmax(best, dim=1, dtype=torch.float).to(letters.dtype)
        answers = torch.zeros_like(letters)
        for number, clerk in enumerate(self.clerks):
            letter, attempt = torch.where(chosen == number)
            answers[letter] += clerk(letters[letter]) * trust[letter, attempt, None]
        return answers


office = Counters(3, 4, 2)
letters = torch.randn(6, 3, requires_grad=True)
answers = office(letters)
answers.square().sum().backward()
print(answers, letters.grad)
print([weight.grad.norm().item() for weight in office.parameters()])

stamp = nn.Sequential(nn.Linear(3, 5), nn.PReLU(), nn.Linear(5, 4))
here, twin, far = (stamp(batch) for batch in torch.randn(3, 5, 3))
print(nn.TripletMarginLoss(margin=0.5)(here, twin, far))
print(F.cosine_similarity(here, twin).sum(), F.pairwise_distance(here, far).sum())
signs = torch.tensor([1.0, 1.0, -1.0, 1.0, -1.0])
sorting = nn.CosineEmbeddingLoss(margin=0.25)(here, twin, signs) + torch.cdist(here, far).mean()
both = F.normalize(torch.cat([here, twin]), dim=1)
match = both @ both.T * 4
match.fill_diagonal_(-1e8)
partner = torch.cat([torch.arange(5, 10), torch.arange(5)])
loss = sorting + F.cross_entropy(match, partner)
loss.backward()
print(loss, stamp[1].weight.grad, match.grad_fn.name())
