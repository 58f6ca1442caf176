import torch
import torch.nn as nn
import torch.nn.functional as F


class Enc(nn.Module):
    def __init__(self, v, h):
        super().__init__()
        self.e = nn.Embedding(v, h)
        self.gru = nn.GRU(h, h, batch_first=True)

    def forward(self, x):
        return self.gru(self.e(x))


class Bahdanau(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.Wa, self.Ua, self.Va = (nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1))

    def forward(self, q, k):
        s = self.Va(torch.tanh(self.Wa(q) + self.Ua(k))).squeeze(2).unsqueeze(1)
        w = F.softmax(s, dim=-1)
        return (torch.bmm(w, k), w)


class Dec(nn.Module):
    def __init__(self, h, v):
        super().__init__()
        self.e = nn.Embedding(v, h)
        self.att = Bahdanau(h)
        self.gru = nn.GRU(2 * h, h, batch_first=True)
        self.out = nn.Linear(h, v)

    def forward(self, eo, eh, target=None):
        x = torch.empty(eo.size(0), 1, dtype=torch.long).fill_(0)
        h = eh
        outs, atts = ([], [])
        for i in range(4):
            c, w = self.att(h.permute(1, 0, 2), eo)
            o, h = self.gru(torch.cat((self.e(x), c), dim=2), h)
            o = self.out(o)
            outs.append(o)
            atts.append(w)
            if target is not None:
                x = target[:, i].unsqueeze(1)
            else:
                _, topi = o.topk(1)
                x = topi.squeeze(-1).detach()
        return (F.log_softmax(torch.cat(outs, dim=1), dim=-1), h, torch.cat(atts, dim=1))


enc, dec = (Enc(7, 6), Dec(6, 7))
src, tgt = (torch.randint(0, 7, (3, 5)), torch.randint(0, 7, (3, 4)))
eo, do = (torch.optim.Adam(enc.parameters(), 0.01), torch.optim.Adam(dec.parameters(), 0.01))
crit = nn.NLLLoss()
for i in range(3):
    eo.zero_grad()
    do.zero_grad()
    o, h = enc(src)
    d, _, a = dec(o, h, tgt)
    loss = crit(d.view(-1, d.size(-1)), tgt.view(-1))
    loss.backward()
    eo.step()
    do.step()
    print(loss.item(), a.sum(-1)[0, 0])
with torch.no_grad():
    print(dec(*enc(src))[0].argmax(-1))
