"""A language model of two LSTM layers between an embedding and a decoder."""

import torch
from torch import nn
from torch.nn import functional as F


class LanguageModel(nn.Module):
    def __init__(self, words: int = 50, width: int = 16) -> None:
        super().__init__()
        self.encoder = nn.Embedding(words, width)
        self.drop = nn.Dropout(0.2)
        self.rnn = nn.LSTM(width, width, 2, dropout=0.2)
        self.decoder = nn.Linear(width, words)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        out, _state = self.rnn(self.drop(self.encoder(tokens)))
        return self.decoder(self.drop(out))


torch.manual_seed(0)
model = LanguageModel()
tokens = torch.randint(0, 50, (13, 4))
logits = model(tokens[:-1])
loss = F.cross_entropy(logits.reshape(-1, 50), tokens[1:].reshape(-1))
loss.backward()
