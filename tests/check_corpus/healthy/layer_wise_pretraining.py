# each autoencoder is trained on the detached code of the one before
import torch
import torch.nn as nn

torch.manual_seed(40)
x = torch.randn(64, 3) @ torch.randn(3, 16)
sizes = [16, 8, 4]
encoders, history = [], []
for inputs, outputs in zip(sizes, sizes[1:]):
    encoder, decoder = nn.Linear(inputs, outputs), nn.Linear(outputs, inputs)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.02)
    losses = []
    for epoch in range(30):
        loss = (decoder(torch.tanh(encoder(x))) - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    encoders.append(encoder)
    history += [losses[0], losses[-1]]
    x = torch.tanh(encoder(x)).detach()
