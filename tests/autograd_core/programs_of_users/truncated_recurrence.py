import torch
import torch.nn as nn


class CharRNN(nn.Module):
    def __init__(self, vocab, hidden, cell):
        super().__init__()
        self.hidden_size = hidden
        self.embed = nn.Embedding(vocab, 6)
        self.rnn = getattr(nn, cell)(6, hidden, num_layers=2, batch_first=True)
        self.fc = nn.Linear(hidden, vocab)

    def forward(self, x, state=None):
        out, state = self.rnn(self.embed(x), state)
        return self.fc(out.contiguous().view(-1, self.hidden_size)), state


def repackage_hidden(h):
    """Wraps hidden states in new Tensors, to detach them from their history."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


text = torch.randint(0, 9, (2, 25))
for cell in ("RNN", "GRU", "LSTM"):
    torch.manual_seed(11)
    model = CharRNN(9, 8, cell)
    opt = torch.optim.Adagrad(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    h = None
    for i in range(0, 20, 5):
        inputs, targets = text[:, i:i + 5], text[:, i + 1:i + 6]
        if h is not None:
            h = repackage_hidden(h)
        model.zero_grad()
        output, h = model(inputs, h)
        loss = criterion(output, targets.reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        opt.step()
        print(cell, i, round(loss.item(), 4))
    print([n for n, _ in model.rnn.named_parameters()][:4])
# forgetting to detach
model = nn.RNNCell(3, 4)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
h = torch.zeros(2, 4)
try:
    for t in range(3):
        h = model(torch.ones(2, 3), h)
        h.sum().backward()
        opt.step()
except RuntimeError as e:
    print(str(e)[:60])


class MyRNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super(MyRNN, self).__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.i2o = nn.Linear(input_size + hidden_size, output_size)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, input, hidden):
        combined = torch.cat((input, hidden), 1)
        hidden = self.i2h(combined)
        output = self.softmax(self.i2o(combined))
        return output, hidden

    def initHidden(self):
        return torch.zeros(1, self.hidden_size)


rnn = MyRNN(5, 8, 3)
crit = nn.NLLLoss()
line = torch.zeros(6, 1, 5)
for i in range(6):
    line[i][0][(i * 3) % 5] = 1
for epoch in range(3):
    hidden = rnn.initHidden()
    rnn.zero_grad()
    for i in range(line.size()[0]):
        output, hidden = rnn(line[i], hidden)
    l = crit(output, torch.tensor([1]))
    l.backward()
    for p in rnn.parameters():
        p.data.add_(p.grad.data, alpha=-0.05)
    top_n, top_i = output.topk(1)
    print(l.item(), top_i[0].item())
