"""A young bird learns to go on with songs; it remembers the last four syllables it heard."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Ear(nn.Module):
    def __init__(self, size, ears, longest):
        super().__init__()
        self.parts = nn.Linear(size, 3 * size)
        self.voice_out = nn.Linear(size, size)
        self.size, self.ears = size, ears
        heard = torch.tril(torch.ones(longest, longest)).triu(-3)
        self.register_buffer("heard", heard.view(1, 1, longest, longest))

    def apart(self, sound):
        batch, length, size = sound.size()
        return sound.view(batch, length, self.ears, size // self.ears).transpose(1, 2)

    def forward(self, song):
        length = song.size(1)
        ask, offer, tell = (self.apart(part) for part in self.parts(song).split(self.size, dim=2))
        fit = (ask @ offer.transpose(-2, -1)) * (1.0 / math.sqrt(ask.size(-1)))
        fit = fit.masked_fill(self.heard[:, :, :length, :length] == 0, float("-inf"))
        told = (F.softmax(fit, dim=-1) @ tell).transpose(1, 2)
        return self.voice_out(told.contiguous().view(*song.shape))


class Brain(nn.Module):
    def __init__(self, size, ears, longest):
        super().__init__()
        self.calm, self.ear = nn.LayerNorm(size), Ear(size, ears, longest)
        thinking = {"wide": nn.Linear(size, 3 * size), "bend": nn.GELU(approximate="tanh")}
        self.think = nn.ModuleDict({**thinking, "voice_out": nn.Linear(3 * size, size)})

    def forward(self, song):
        song = song + self.ear(self.calm(song))
        wide = self.think.bend(self.think.wide(song))
        return song + self.think["voice_out"](wide)


class Bird(nn.Module):
    def __init__(self, syllables=9, longest=6, size=8, ears=2, brains=3):
        super().__init__()
        self.longest = longest
        self.sound, self.beat = nn.Embedding(syllables, size), nn.Embedding(longest, size)
        self.nap = nn.Dropout(0.0)
        self.brains = nn.ModuleList(Brain(size, ears, longest) for _ in range(brains))
        self.calm, self.beak = nn.LayerNorm(size), nn.Linear(size, syllables, bias=False)
        self.apply(self.hatch)
        for name, weight in self.named_parameters():
            if name.endswith("voice_out.weight"):
                torch.nn.init.normal_(weight, mean=0.0, std=0.05 / math.sqrt(brains))

    def hatch(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.05)
        if isinstance(module, nn.Linear) and module.bias is not None:
            torch.nn.init.zeros_(module.bias)

    def forward(self, song, next_syllables=None):
        beats = torch.arange(0, song.size(1), dtype=torch.long, device=song.device)
        heard = self.nap(self.sound(song) + self.beat(beats.unsqueeze(0)))
        for brain in self.brains:
            heard = brain(heard)
        urges = self.beak(self.calm(heard))
        if next_syllables is None:
            return urges, None
        flat = urges.view(-1, urges.size(-1))
        return urges, F.cross_entropy(flat, next_syllables.reshape(-1), ignore_index=-1)

    @torch.no_grad()
    def sing(self, song, syllables):
        for _ in range(syllables):
            urge = self(song[:, -self.longest :])[0][:, -1, :]
            strongest, _ = torch.topk(urge, 2)
            urge[urge < strongest[:, [-1]]] = -float("inf")
            chance = F.softmax(urge, dim=-1)
            song = torch.cat((song, chance.argmax(-1, keepdim=True)), dim=1)
        return song


bird = Bird()
print(sum(weight.numel() for weight in bird.parameters()))
thick = [weight for _, weight in bird.named_parameters() if weight.dim() >= 2]
thin = [weight for _, weight in bird.named_parameters() if weight.dim() < 2]
groups = [{"params": thick, "weight_decay": 0.2}, {"params": thin, "weight_decay": 0.0}]
practice = torch.optim.AdamW(groups, lr=5e-3, betas=(0.8, 0.98))
songs = torch.randint(0, 9, (5, 7))
wanted = songs[:, 1:].clone()
wanted[2, :3] = -1  # nobody heard how this one began
for morning in range(3):
    _, loss = bird(songs[:, :-1], wanted)
    practice.zero_grad(set_to_none=True)
    loss.backward()
    strain = torch.nn.utils.clip_grad_norm_(bird.parameters(), 0.5)
    practice.step()
    print(f"{morning}: {loss.item():.4f}, strain {strain:.4f}")
print(bird.sing(songs[:1, :2], 6))

layer = nn.TransformerEncoderLayer(
    d_model=6, nhead=3, dim_feedforward=10, dropout=0.0, batch_first=True
)
flock = nn.TransformerEncoder(layer, num_layers=3)
calls = torch.randn(3, 4, 6)
not_yet = torch.full((4, 4), -math.inf).triu(1)
heard = flock(calls, mask=not_yet)
heard.pow(2).mean().backward()
print(heard.shape, flock.layers[1].linear1.weight.grad.norm())
pairs = nn.MultiheadAttention(6, 3, batch_first=True)
answer, attention = pairs(calls, calls, calls, attn_mask=not_yet)
print(answer.shape, attention.shape, attention[1, 2])
print(F.scaled_dot_product_attention(calls, calls, calls, is_causal=True).sum())


class Rhythm(nn.Module):
    """Slow and fast beats, side by side, tell the syllables of a song apart."""

    def __init__(self, size, longest=20):
        super().__init__()
        pace = torch.exp(torch.arange(0, size, 2) * (-math.log(500.0) / size))
        angles = torch.arange(longest).unsqueeze(1) * pace
        beats = torch.zeros(longest, 1, size)
        beats[:, 0, 1::2] = torch.sin(angles)
        beats[:, 0, 0::2] = torch.cos(angles)
        self.register_buffer("beats", beats)

    def forward(self, song):
        return song + self.beats[: song.size(0)]


rhythm = Rhythm(6)
print(rhythm(calls.transpose(0, 1)).sum(), list(rhythm.state_dict()))
