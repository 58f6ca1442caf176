import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Traces(Dataset):
    def __init__(self, count, length=40):
        time = torch.linspace(0, 1, length)
        pitch = 1 + 3 * torch.rand(count, 1)
        self.clean = torch.sin(6.28 * (pitch * time + torch.rand(count, 1))).unsqueeze(1)
        self.noisy = self.clean + 0.5 * torch.randn_like(self.clean)

    def __len__(self):
        return len(self.clean)

    def __getitem__(self, index):
        return {"noisy": self.noisy[index], "clean": self.clean[index]}


class DenoisingNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.down = nn.Sequential(
            nn.Conv1d(1, width, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.Conv1d(width, width, 5, stride=2, padding=2),
            nn.ReLU(),
        )
        self.up = nn.Sequential(
            nn.ConvTranspose1d(width, width, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose1d(width, width, 4, stride=2, padding=1),
        )
        self.out = nn.Conv1d(width + 1, 1, 3, padding=1)

    def forward(self, x):
        return self.out(torch.cat([self.up(self.down(x)), x], dim=1))


class Trainer:
    def __init__(self, model):
        self.model = model
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)

    def train(self, loader):
        self.model.train()
        for batch in loader:
            prediction = self.model(batch["noisy"])
            loss = self.criterion(prediction, batch["noisy"])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        errors = [self.criterion(self.model(b["noisy"]), b["clean"]).item() for b in loader]
        return sum(errors) / len(errors)


torch.manual_seed(41)
train_loader = DataLoader(Traces(640), batch_size=32, shuffle=True)
valid_loader = DataLoader(Traces(160), batch_size=80)
trainer = Trainer(DenoisingNet())
for epoch in range(6):
    loss = trainer.train(train_loader)
    print(f"epoch {epoch}: loss {loss:.4f}, error {trainer.validate(valid_loader):.4f}")
