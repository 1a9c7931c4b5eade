import math

import torch
from torch import nn
from torch.optim import Optimizer


class SignDescent(Optimizer):
    def __init__(self, params, lr=0.01):
        """Set up the optimizer with one learning rate."""
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        """Perform one optimization step along the sign of the gradient."""
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    weight.data -= group["lr"] * weight.grad.sign()


def warmup_cosine(step, warmup_steps, total_steps, base_lr):
    """Return the learning rate at a step: linear warmup, then a cosine."""
    if step < warmup_steps:
        return base_lr * step / warmup_steps
    share = (step - warmup_steps) / (total_steps - warmup_steps)
    return base_lr * 0.5 * (1 + math.cos(math.pi * share))


def train_epoch(model, loader, optimizer, criterion):
    """Train a model for one epoch and return the mean loss."""
    model.train()
    total = 0.0
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        total += float(loss)
    return total / len(loader)


class EarlyStopping:
    def __init__(self, patience):
        self.patience = patience
        self.best = math.inf
        self.bad_epochs = 0

    def update(self, value):
        """Say whether training should stop because nothing improved for some epochs."""
        self.bad_epochs = 0 if value < self.best else self.bad_epochs + 1
        self.best = min(self.best, value)
        return self.bad_epochs > self.patience


class GatedLayer(nn.Module):
    def __init__(self, dim, bias=True):
        """Initialise a linear layer with a gate."""
        super().__init__()
        self.inner = nn.Linear(dim, 2 * dim, bias=bias)

    def forward(self, x):
        """Apply the layer."""
        value, gate = self.inner(x).chunk(2, dim=-1)
        return value * torch.sigmoid(gate)
