import torch
import torch.autograd as autograd
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(1)


def argmax(vec):
    _, idx = torch.max(vec, 1)
    return idx.item()


def log_sum_exp(vec):
    max_score = vec[0, argmax(vec)]
    b = max_score.view(1, -1).expand(1, vec.size()[1])
    return max_score + torch.log(torch.sum(torch.exp(vec - b)))


class CRF(nn.Module):
    def __init__(self, vocab, tags, e, h):
        super().__init__()
        self.tags, self.n, self.h = (tags, len(tags), h)
        self.word_embeds = nn.Embedding(vocab, e)
        self.lstm = nn.LSTM(e, h // 2, num_layers=1, bidirectional=True)
        self.hidden2tag = nn.Linear(h, self.n)
        self.transitions = nn.Parameter(torch.randn(self.n, self.n))
        self.transitions.data[tags["S"], :] = -10000
        self.transitions.data[:, tags["E"]] = -10000

    def feats(self, s):
        hid = (torch.randn(2, 1, self.h // 2), torch.randn(2, 1, self.h // 2))
        out, _ = self.lstm(self.word_embeds(s).view(len(s), 1, -1), hid)
        return self.hidden2tag(out.view(len(s), self.h))

    def forward_alg(self, feats):
        init = torch.full((1, self.n), -10000.0)
        init[0][self.tags["S"]] = 0.0
        fv = init
        for feat in feats:
            at = []
            for nt in range(self.n):
                emit = feat[nt].view(1, -1).expand(1, self.n)
                trans = self.transitions[nt].view(1, -1)
                at.append(log_sum_exp(fv + trans + emit).view(1))
            fv = torch.cat(at).view(1, -1)
        return log_sum_exp(fv + self.transitions[self.tags["E"]])

    def score(self, feats, tags):
        sc = torch.zeros(1)
        tags = torch.cat([torch.tensor([self.tags["S"]], dtype=torch.long), tags])
        for i, feat in enumerate(feats):
            sc = sc + self.transitions[tags[i + 1], tags[i]] + feat[tags[i + 1]]
        return sc + self.transitions[self.tags["E"], tags[-1]]

    def nll(self, s, t):
        f = self.feats(s)
        return self.forward_alg(f) - self.score(f, t)


m = CRF(6, {"B": 0, "I": 1, "O": 2, "S": 3, "E": 4}, 5, 4)
opt = optim.SGD(m.parameters(), lr=0.01, weight_decay=0.0001)
s, t = (torch.tensor([0, 1, 2, 3], dtype=torch.long), torch.tensor([0, 1, 2, 2], dtype=torch.long))
for e in range(3):
    m.zero_grad()
    loss = m.nll(s, t)
    loss.backward()
    opt.step()
    print(loss)
print(m.transitions.grad.norm())
