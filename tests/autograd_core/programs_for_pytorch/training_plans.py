"""Plans for a runner's pace: every optimizer with another schedule, and groups of their own."""

import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim import lr_scheduler
from torch.optim.lr_scheduler import (
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiStepLR,
    OneCycleLR,
    ReduceLROnPlateau,
    SequentialLR,
    StepLR,
)

runner = nn.Linear(4, 1)
tracks, times = torch.randn(10, 4), torch.randn(10, 1)


def missed():
    return ((runner(tracks) - times) ** 2).mean()


def season(coach, plan, weeks=9):
    paces = []
    for _ in range(weeks):
        coach.zero_grad()
        loss = missed()
        loss.backward()
        coach.step()
        plan.step(loss) if isinstance(plan, ReduceLROnPlateau) else plan.step()
        paces.append(round(coach.param_groups[0]["lr"], 6))
    print(type(coach).__name__, type(plan).__name__, paces, loss.item())


legs = list(runner.parameters())
season(coach := optim.SGD(legs, lr=0.2), StepLR(coach, step_size=4, gamma=0.25))
season(coach := optim.Adam(legs, lr=0.05, amsgrad=True), ExponentialLR(coach, gamma=0.8))
season(coach := optim.AdamW(legs, lr=0.05), CosineAnnealingLR(coach, T_max=6, eta_min=0.02))
plateau = {"patience": 2, "threshold": 0.3}
season(coach := optim.Adadelta(legs, lr=2.0), ReduceLROnPlateau(coach, "min", **plateau))
coach = optim.RMSprop(legs, lr=0.02, momentum=0.7, centered=True)
season(coach, lr_scheduler.LambdaLR(coach, lambda week: 1 / (1 + week)))
print(LambdaLR is lr_scheduler.LambdaLR)
season(coach := optim.Adamax(legs, lr=0.02), OneCycleLR(coach, max_lr=0.2, total_steps=12))
season(coach := optim.NAdam(legs, lr=0.02), MultiStepLR(coach, [3, 6], gamma=0.5))

strong = {"params": [runner.weight], "lr": 0.15, "momentum": 0.6}
coach = optim.SGD([strong, {"params": [runner.bias]}], lr=0.05)
warm = LinearLR(coach, start_factor=0.25, total_iters=4)
plan = SequentialLR(coach, [warm, ExponentialLR(coach, 0.7)], milestones=[4])
season(coach, plan)
print(plan.get_last_lr(), coach.param_groups[1]["momentum"])
coach.add_param_group({"params": nn.Parameter(torch.zeros(3)), "lr": 0.9})
print(len(coach.param_groups), [group["lr"] for group in coach.param_groups])

for wrong in (
    lambda: optim.Adam([], lr=0.1),
    lambda: optim.Adam(runner.parameters(), lr=-0.5),
    lambda: optim.SGD([nn.Parameter(torch.ones(3)) + 1]),
):
    try:
        wrong()
    except ValueError as error:
        print(error)

exact = optim.LBFGS(runner.parameters(), lr=0.4, max_iter=6, line_search_fn="strong_wolfe")


def timed():
    exact.zero_grad()
    loss = missed()
    loss.backward()
    return loss


print([exact.step(timed).item() for _ in range(2)])
print(sorted(exact.state_dict()))
print(optim.Adam(runner.parameters()).step(lambda: 1.5))
for leg in runner.parameters():
    leg.register_post_accumulate_grad_hook(lambda leg: print("moved", tuple(leg.shape)))
missed().backward()
