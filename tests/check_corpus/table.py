"""What is wrong with each program of `buggy`, as its user should be told, and what mends it."""

from __future__ import annotations

from typing import Literal, NamedTuple

ALL = ("torch", "autograd_core")
# They use what the core lacks.
TORCH_ONLY = {
    "actor_and_critic",
    "actor_loss_reaches_the_critic",
    "bfloat16_autocast",
    "clipped_before_unscaling",
    "cyclic_rates",
    "decoder_tied_by_a_copy",
    "early_stopping",
    "gem_pooling_of_dead_channels",  # the core gives the exponent 0 where PyTorch gives it NaN
    "gradients_per_sample",
    "lbfgs",
    "log_probs_rewrapped",
    "log_std_outside_its_clamp",
    "packed_sequences",
    "plateau_waits_for_a_maximum",
    "ppo_clip",
    "ppo_ratio_of_itself",
    "reinforce_with_baseline",
    "running_loss_keeps_graphs",
    "sampled_without_reparametrization",
    "scaler_skips_the_first_steps",
    "soft_actor_critic",
    "sparse_embedding",
    "spectral_norm_critic",
    "std_of_one_reward",
    "stochastic_weight_averaging",
    "target_broadcasts",
}
BLIND = 84
GITHUB = "https://github.com/"


def engines_of(name: str) -> tuple[str, ...]:
    """The libraries on which a program runs."""
    return ("torch",) if name in TORCH_ONLY else ALL


class Bug(NamedTuple):
    """A program with a bug that people report.

    The first :data:`BLIND` were written before the rules that are to find them, by someone who had
    not read these. Every second one of them is held out: nobody runs `gradstep check` on it until
    the final measurement.
    """

    name: str
    half: Literal["seen", "held_out"]
    cause: str  # in one sentence
    at: tuple[str, ...]  # text of the lines of which a report has to name one
    names: tuple[str, ...]  # what a report has to name; `a|b`: either
    old: str  # occurs once in the program
    new: str  # what mends it
    symptom: str  # true of the program's variables after its run, and no longer when mended
    source: str = ""  # a public thread about such a bug
    error: str = ""  # the program ends with this message

    @property
    def engines(self) -> tuple[str, ...]:
        return engines_of(self.name)


BUGS = (
    Bug(
        "gan_detached_generator",
        "seen",
        "the generator's loss is computed from fake.detach(), so that no gradient reaches G",
        ("g_loss = bce(D(fake.detach()), ones)",),
        ("G|opt_g", "detach"),
        "bce(D(fake.detach()), ones)",
        "bce(D(fake), ones)",
        "no_gradient(G)",
        GITHUB + "nikhilsinghmus/image2reverb/issues/37",
    ),
    Bug(
        "loss_forced_to_require_grad",
        "held_out",
        "argmax has no derivative; loss.requires_grad = True makes a leaf of the loss",
        (
            "output = model(images).argmax(dim=1)",
            "loss.requires_grad = True  # element 0 of tensors does not require grad",
        ),
        ("argmax|requires_grad",),
        """\
    output = model(images).argmax(dim=1)
    loss = nn.functional.l1_loss(output.float(), labels.float())
    loss.requires_grad = True  # element 0 of tensors does not require grad
""",
        "    loss = criterion(model(images), labels)\n",
        "no_gradient(model)",
        GITHUB + "ronghuaiyang/arcface-pytorch/issues/56",
    ),
    Bug(
        "layers_in_a_plain_list",
        "seen",
        "self.blocks is a Python list: model.parameters() and the optimizer lack its layers",
        (
            "self.blocks = [nn.Linear(width, width) for _ in range(depth)]",
            "x = torch.tanh(block(x))",
            "optimizer = torch.optim.Adam(model.parameters(), lr=0.02)",
        ),
        ("blocks",),
        "[nn.Linear(width, width) for _ in range(depth)]",
        "nn.ModuleList(nn.Linear(width, width) for _ in range(depth))",
        "len(list(model.parameters())) == 2",
        GITHUB + "pytorch/pytorch/issues/59925",
    ),
    Bug(
        "softmax_of_a_single_output",
        "held_out",
        "softmax over a dimension of size 1 is always 1, and all gradients are 0",
        ("return torch.softmax(self.fc2(x), dim=1)",),
        ("softmax",),
        "torch.softmax(self.fc2(x), dim=1)",
        "torch.sigmoid(self.fc2(x))",
        "zero_gradient(model)",
        GITHUB + "FluxML/Flux.jl/issues/1546",
    ),
    Bug(
        "clipped_before_unscaling",
        "seen",
        "clip_grad_norm_ sees gradients that are still scaled by 65536: weights hardly move",
        ("torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",),
        ("clip_grad_norm_", "unscale_"),
        "    torch.nn.utils.clip_grad_norm_(",
        "    scaler.unscale_(optimizer)\n    torch.nn.utils.clip_grad_norm_(",
        "history[-1] > 0.99 * history[0]",
        GITHUB + "Lightning-AI/pytorch-lightning/issues/9599",
    ),
    Bug(
        "distance_of_equal_points",
        "held_out",
        "the derivative of sqrt is infinite at 0, where two points are equal: 0 * inf is NaN",
        ("return (a - b).pow(2).sum(dim=1).sqrt()",),
        ("sqrt",),
        ".sum(dim=1).sqrt()",
        ".sum(dim=1).add(1e-9).sqrt()",
        "not_finite(net)",
        GITHUB + "adambielski/siamese-triplet/issues/18",
    ),
    Bug(
        "gcn_with_an_isolated_node",
        "seen",
        "an isolated node has degree 0, 0 ** -0.5 is inf, and inf * 0 is NaN",
        ("d_inv_sqrt = deg.pow(-0.5)",),
        ("pow|deg",),
        "deg.pow(-0.5)",
        "deg.clamp(min=1).pow(-0.5)",
        "not_finite(model)",
        GITHUB + "pyg-team/pytorch_geometric/issues/61",
    ),
    Bug(
        "eval_mode_never_left",
        "held_out",
        "validate() switches to eval mode, and nothing switches back: dropout is off from epoch 1",
        ("model.eval()", "loss = criterion(model(xb), yb)"),
        ("eval", "train()"),
        """\
        return criterion(model(X[64:]), Y[64:]).item()
""",
        """\
        result = criterion(model(X[64:]), Y[64:]).item()
    model.train()
    return result
""",
        "not model.training",
        GITHUB + "tk-rusch/coRNN/issues/1",
    ),
    Bug(
        "learned_loss_without_create_graph",
        "seen",
        "the inner gradient has no graph without create_graph=True, so that loss_net never learns",
        ("(grad,) = torch.autograd.grad(inner_loss, [w])",),
        ("loss_net", "create_graph"),
        "torch.autograd.grad(inner_loss, [w])",
        "torch.autograd.grad(inner_loss, [w], create_graph=True)",
        "no_gradient(loss_net)",
        GITHUB + "dragen1860/MAML-Pytorch/issues/63",
    ),
    Bug(
        "running_loss_keeps_graphs",
        "held_out",
        "running_loss += loss keeps the graphs of all earlier batches alive",
        ("running_loss += loss",),
        ("running_loss|item()",),
        "running_loss += loss",
        "running_loss += loss.item()",
        "torch.is_tensor(running_loss)",
        GITHUB + "google/brax/pull/152",
    ),
    Bug(
        "sampled_without_reparametrization",
        "seen",
        "sample() passes no gradient to the mean of the policy; rsample() does",
        ("action = dist.sample()",),
        ("sample", "rsample"),
        "dist.sample()",
        "dist.rsample()",
        "no_gradient(policy.mean)",
        GITHUB + "jankrepl/deepdow/pull/106",
    ),
    Bug(
        "attention_over_an_empty_sentence",
        "held_out",
        "where a whole sentence is padding, all scores are -inf and softmax gives NaN",
        (
            'scores = scores.masked_fill(padding[:, None, :], float("-inf"))',
            "return torch.softmax(scores, dim=-1) @ self.value(x)",
        ),
        ("softmax", "inf"),
        'float("-inf")',
        "-1e9",
        "not_finite(attention)",
        GITHUB + "pytorch/pytorch/issues/41508",
    ),
    Bug(
        "target_network_is_the_network",
        "seen",
        "target_net = q_net is a second name of the same network, and no copy",
        ("target_net = q_net",),
        ("target_net|q_net",),
        """\
target_net = q_net
target_net.load_state_dict(q_net.state_dict())
""",
        """\
target_net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target_net.load_state_dict(q_net.state_dict())
""",
        "target_net is q_net",
        GITHUB + "datawhalechina/easy-rl/issues/140",
    ),
    Bug(
        "td_target_with_a_graph",
        "held_out",
        "the target of the loss has a graph: the network is trained to move its target, too",
        (
            "q_next = self.net(s2).max(dim=1)[0]",
            "q_target = r + 0.99 * q_next * (1 - done)",
            "loss = nn.MSELoss()(q_eval, q_target)",
        ),
        ("target", "detach|no_grad"),
        "self.net(s2).max(dim=1)[0]",
        "self.net(s2).max(dim=1)[0].detach()",
        "target.requires_grad",
        GITHUB + "philtabor/Deep-Q-Learning-Paper-To-Code/issues/9",
    ),
    Bug(
        "where_does_not_protect",
        "seen",
        "torch.where drops the value of x / 0, and its gradient is still 0 * inf = NaN",
        ("rate = expected / counts",),
        ("where", "counts"),
        "rate = expected / counts\n",
        "rate = expected / counts.clamp(min=1)\n",
        "not_finite(weight)",
        GITHUB + "pytorch/pytorch/issues/16317",
    ),
    Bug(
        "std_of_one_reward",
        "held_out",
        "the unbiased standard deviation of one reward is 0 / 0 = NaN",
        ("returns = (returns - returns.mean()) / (returns.std() + 1e-8)",),
        ("std",),
        "returns.std()",
        "returns.std(unbiased=False)",
        "not_finite(policy)",
        GITHUB + "pytorch/pytorch/issues/4320",
        error="found invalid values",
    ),
    Bug(
        "eigenvectors_of_equal_eigenvalues",
        "seen",
        "the derivative of eigenvectors divides by differences of eigenvalues, here 0",
        ("values, vectors = torch.linalg.eigh(cov)",),
        ("eigh",),
        "torch.linalg.eigh(cov)",
        "torch.linalg.eigh(cov + torch.diag(torch.arange(4.0)))",
        "not_finite(model)",
        GITHUB + "pytorch/pytorch/issues/49886",
        error="failed to converge",
    ),
    Bug(
        "angle_of_equal_rotations",
        "held_out",
        "the derivative of acos is infinite at 1, where two rotations are equal",
        ("cos = torch.clamp(trace / 2, -1.0, 1.0)", "return torch.acos(cos).mean()"),
        ("acos",),
        "torch.clamp(trace / 2, -1.0, 1.0)",
        "torch.clamp(trace / 2, -0.9999, 0.9999)",
        "not_finite(head)",
        GITHUB + "eigenvivek/xvr/pull/129",
    ),
    Bug(
        "ppo_ratio_of_itself",
        "seen",
        "old_log_probs has a graph: the ratio is 1 whatever the actor does, and its gradient 0",
        (
            "old_log_probs = dist.log_prob(actions)",
            "ratio = torch.exp(dist.log_prob(actions) - old_log_probs)",
        ),
        ("actor|ratio|old_log_probs",),
        "old_log_probs = dist.log_prob(actions)",
        "old_log_probs = dist.log_prob(actions).detach()",
        "nearly_zero_gradient(actor)",
        GITHUB + "nikhilbarhate99/PPO-PyTorch/issues/18",
    ),
    Bug(
        "penalty_without_create_graph",
        "held_out",
        "the gradient has no graph without create_graph=True: the penalty trains nothing",
        (
            "(grads,) = autograd.grad(scores, mixed, grad_outputs=torch.ones_like(scores))",
            "penalty = gradient_penalty(critic, real, fake)",
        ),
        ("penalty|grad", "create_graph"),
        "grad_outputs=torch.ones_like(scores))",
        "grad_outputs=torch.ones_like(scores), create_graph=True)",
        "not penalty.requires_grad",
        GITHUB + "ooples/AiDotNet/issues/1844",
    ),
    Bug(
        "gradients_zeroed_before_the_step",
        "seen",
        "zero_grad() stands between backward() and step(): no weight ever moves",
        ("optimizer.zero_grad()", "optimizer.step()"),
        ("zero_grad",),
        """\
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
""",
        """\
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
        "history[-1] == history[0]",
        GITHUB + "sacmehta/EdgeNets/issues/14",
    ),
    Bug(
        "target_broadcasts",
        "held_out",
        "pred is (25, 1) and target (25,): their difference is (25, 25), and the mean is learned",
        ("loss = ((pred - target) ** 2).mean()",),
        ("25, 1", "25, 25|broadcast"),
        "pred = net(x)",
        "pred = net(x).squeeze(1)",
        "pred.shape != target.shape",
        GITHUB + "pytorch/pytorch/issues/16045",
    ),
    Bug(
        "kl_div_of_probabilities",
        "seen",
        "KLDivLoss takes logarithms of probabilities, and gets probabilities",
        ("student_out = F.softmax(student(x) / 2, dim=1)", "loss = kl(student_out, soft_targets)"),
        ("log_softmax|log",),
        "F.softmax(student(x) / 2, dim=1)",
        "F.log_softmax(student(x) / 2, dim=1)",
        "loss < 0",
        GITHUB + "pytorch/pytorch/issues/5282",
    ),
    Bug(
        "nll_of_probabilities",
        "held_out",
        "nll_loss takes logarithms of probabilities, and gets probabilities",
        ("return F.softmax(self.fc(h[-1]), dim=1)", "loss_train = F.nll_loss(output, y)"),
        ("nll_loss", "log_softmax|log"),
        "F.softmax(self.fc(h[-1]), dim=1)",
        "F.log_softmax(self.fc(h[-1]), dim=1)",
        "loss_train < 0",
        GITHUB + "midas-research/man-sf-emnlp/issues/2",
    ),
    Bug(
        "softmax_before_cross_entropy",
        "seen",
        "CrossEntropyLoss applies softmax itself, to probabilities: the loss stays above 0.55",
        ("nn.Softmax(dim=1),", "loss = criterion(model(inputs), labels)"),
        ("softmax|Softmax",),
        "        nn.Softmax(dim=1),\n",
        "",
        "history[-1] > 0.5",
        GITHUB + "ariecattan/SciCo/issues/2",
    ),
    Bug(
        "decoder_tied_by_a_copy",
        "held_out",
        "clone() makes a copy: the weights start equal and then part",
        (
            "self.decoder.weight = nn.Parameter(self.encoder.weight.clone())",
            "h, _ = self.rnn(self.encoder(tokens))",
            "return self.decoder(h)",
        ),
        ("encoder.weight", "decoder.weight"),
        "nn.Parameter(self.encoder.weight.clone())",
        "self.encoder.weight",
        "lm.decoder.weight is not lm.encoder.weight",
        GITHUB + "facebookresearch/pytext/pull/704",
    ),
    Bug(
        "argmax_in_a_loss_term",
        "seen",
        "argmax has no derivative: dloss is added to the loss and trains nothing",
        (
            "coarse_pred = torch.argmax(nn.Softmax(dim=1)(coarse), dim=1)",
            "fine_pred = torch.argmax(nn.Softmax(dim=1)(fine), dim=1)",
            "dloss = dependency_loss(coarse, fine)",
            "total = layer_loss + 2.0 * dloss",
        ),
        ("argmax|dloss",),
        """\
    coarse_pred = torch.argmax(nn.Softmax(dim=1)(coarse), dim=1)
    fine_pred = torch.argmax(nn.Softmax(dim=1)(fine), dim=1)
    wrong = torch.where(parent_of[fine_pred] == coarse_pred, 0.0, 1.0)
""",
        """\
    coarse_prob = nn.Softmax(dim=1)(coarse)[:, parent_of]
    wrong = 1 - (coarse_prob * nn.Softmax(dim=1)(fine)).sum(dim=1)
""",
        "not dloss.requires_grad",
        GITHUB + "Ugenteraan/Deep_Hierarchical_Classification/issues/6",
    ),
    Bug(
        "balance_losses_rewrapped",
        "held_out",
        "torch.tensor copies the values of the losses, and not their graphs",
        ("balance_loss = torch.tensor([layer.balance for layer in layers]).mean()",),
        ("tensor", "stack"),
        "torch.tensor([layer.balance for layer in layers])",
        "torch.stack([layer.balance for layer in layers])",
        "not balance_loss.requires_grad",
        GITHUB + "laekov/fastmoe/issues/49",
    ),
    Bug(
        "head_replaced_after_the_optimizer",
        "seen",
        "model.fc is replaced after the optimizer was made, which still holds the old one",
        (
            "model.fc = nn.Linear(24, 2)  # our two classes",
            "optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)",
        ),
        ("fc",),
        """\
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
model.fc = nn.Linear(24, 2)  # our two classes
""",
        """\
model.fc = nn.Linear(24, 2)  # our two classes
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
""",
        "not held_by(optimizer, model.fc)",
        GITHUB + "microsoft/nni/issues/4521",
    ),
    Bug(
        "checkpoint_of_a_plain_input",
        "held_out",
        "a reentrant checkpoint of an input that requires no gradient trains no block",
        ("x = checkpoint(block, x, use_reentrant=True)",),
        ("checkpoint|use_reentrant", "blocks"),
        "use_reentrant=True",
        "use_reentrant=False",
        "no_gradient(model.blocks)",
        GITHUB + "huggingface/transformers/issues/21381",
    ),
    Bug(
        "scheduler_stepped_per_batch",
        "seen",
        "scheduler.step() runs after every batch: after 100 batches lr is 1e-11",
        (
            "scheduler.step()",
            "scheduler = StepLR(optimizer, step_size=10, gamma=0.1)  # every ten epochs",
        ),
        ("scheduler|lr|learning rate",),
        """\
        scheduler.step()
        total += loss.item()
""",
        """\
        total += loss.item()
    scheduler.step()
""",
        "optimizer.param_groups[0]['lr'] < 1e-8",
        GITHUB + "ivadomed/ivadomed/pull/55",
    ),
    Bug(
        "half_precision_norm_overflows",
        "held_out",
        "the sum of squares is inf in float16, its rsqrt 0: everything behind it is 0",
        (
            "square_sum = (x * x).sum(dim=-1, keepdim=True)",
            "return x * torch.rsqrt(square_sum / x.size(-1) + 1e-3) * self.weight",
        ),
        ("float16", "inf"),
        """\
        square_sum = (x * x).sum(dim=-1, keepdim=True)
        return x * torch.rsqrt(square_sum / x.size(-1) + 1e-3) * self.weight
""",
        """\
        square_sum = (x.float() * x.float()).sum(dim=-1, keepdim=True)
        return x * torch.rsqrt(square_sum / x.size(-1) + 1e-3).half() * self.weight
""",
        "zero_gradient(norm, head.weight)",
        GITHUB + "xlite-dev/LeetCUDA/pull/335",
    ),
    Bug(
        "everything_initialised_to_zero",
        "seen",
        "all weights start at 0: no gradient passes the second layer, and no unit differs",
        (
            "nn.init.zeros_(m.weight)",
            "net.apply(init_weights)",
            "net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))",
            "loss = nn.functional.binary_cross_entropy_with_logits(net(x), y)",
        ),
        ("zero|zeros_|0.weight",),
        "nn.init.zeros_(m.weight)",
        "nn.init.xavier_normal_(m.weight, gain=1.4)",
        "zero_gradient(net[0], net[2].weight)",
        GITHUB + "wagonhelm/NaNmnist/issues/2",
    ),
    Bug(
        "log_std_outside_its_clamp",
        "held_out",
        "log_std starts at -20, outside of the clamp: its gradient is 0 for ever",
        (
            "log_std = torch.clamp(self.log_std, LOG_STD_MIN, LOG_STD_MAX)",
            "self.log_std = nn.Parameter(torch.full((2,), -20.0))",
        ),
        ("log_std", "clamp"),
        "torch.full((2,), -20.0)",
        "torch.full((2,), -0.5)",
        "zero_gradient(actor.log_std)",
        GITHUB + "DLR-RM/stable-baselines3/issues/620",
    ),
    Bug(
        "custom_function_forgets_grad_output",
        "seen",
        "backward() returns the derivative without the factor grad_out",
        ("return nisr**3",),
        ("ISRLU",),
        "return nisr**3",
        "return grad_out * nisr**3",
        "wrong_derivative(ISRLU.apply)",
        GITHUB + "pytorch/pytorch/issues/4355",
    ),
    Bug(
        "ctc_target_too_long",
        "held_out",
        "a target of 7 labels cannot fit 6 frames: the loss is inf and its gradient NaN",
        ("loss = ctc(log_probs, targets, input_lengths, target_lengths)",),
        ("ctc|CTC", "inf"),
        "nn.CTCLoss(blank=0)",
        "nn.CTCLoss(blank=0, zero_infinity=True)",
        "not_finite(loss)",
        GITHUB + "ypwhs/captcha_break/issues/29",
    ),
    Bug(
        "sigmoid_twice",
        "seen",
        "BCEWithLogitsLoss applies sigmoid itself, to probabilities",
        (
            "return torch.sigmoid(self.up(torch.relu(self.down(x))))",
            "loss = criterion(model(image), mask)",
        ),
        ("sigmoid",),
        "torch.sigmoid(self.up(torch.relu(self.down(x))))",
        "self.up(torch.relu(self.down(x)))",
        "loss > 0.45",
        GITHUB + "avBuffer/UNet3plus_pth/issues/23",
    ),
    Bug(
        "parameter_moved_in_init",
        "held_out",
        "to() returns a new tensor: self.gain is no parameter, and the optimizer lacks it",
        (
            "self.gain = nn.Parameter(torch.full((dim,), 0.1)).to(device, dtype)",
            "optimizer = torch.optim.Adam(model.parameters(), lr=0.01)",
        ),
        ("gain",),
        "nn.Parameter(torch.full((dim,), 0.1)).to(device, dtype)",
        "nn.Parameter(torch.full((dim,), 0.1, device=device, dtype=dtype))",
        "'gain' not in dict(model.named_parameters())",
        GITHUB + "pytorch/pytorch/issues/17484",
    ),
    Bug(
        "image_cast_after_requires_grad",
        "seen",
        "double() returns a result, no leaf: image.grad is None",
        ("image = torch.rand(1, 16, requires_grad=True).double()",),
        ("image", "leaf"),
        "torch.rand(1, 16, requires_grad=True).double()",
        "torch.rand(1, 16).double().requires_grad_()",
        "image.grad is None",
        GITHUB + "pytorch/pytorch/issues/10065",
        error="NoneType",
    ),
    Bug(
        "relu_on_the_output",
        "held_out",
        "after one step the output of relu is 0 for every sample, and so are all gradients",
        ("return torch.relu(self.output(x))",),
        ("relu",),
        """\
        return torch.relu(self.output(x))


mass = torch.rand(60, 4) * 100
""",
        """\
        return self.output(x)


mass = torch.rand(60, 4)
""",
        "zero_gradient(model)",
        GITHUB + "ProteomicsML/ProteomicsML/pull/203",
    ),
    Bug(
        "encoder_runs_without_gradients",
        "seen",
        "the forward of the tower is decorated with no_grad: it is never fine-tuned",
        ("@torch.no_grad()", "return torch.relu(self.proj(images)).flatten(1)"),
        ("no_grad", "tower"),
        "    @torch.no_grad()\n",
        "",
        "no_gradient(model.tower)",
        GITHUB + "TinyLLaVA/TinyLLaVA_Factory/issues/17",
    ),
    Bug(
        "gem_pooling_of_dead_channels",
        "held_out",
        "a channel that never fires has mean 0, where the derivative of x ** (1 / p) is infinite",
        ("return x.pow(self.p).mean(dim=(2, 3)).pow(1.0 / self.p)",),
        ("pow",),
        "x.pow(self.p)",
        "x.clamp(min=1e-6).pow(self.p)",
        "not_finite(conv, gem)",
        GITHUB + "asteroid-team/asteroid/pull/121",
    ),
    Bug(
        "mean_over_an_empty_mask",
        "seen",
        "where no token is masked, mask.sum() is 0 and the loss 0 / 0 = NaN",
        ("return (per_token * mask).sum() / mask.sum()",),
        ("mask|div",),
        "/ mask.sum()",
        "/ mask.sum().clamp(min=1)",
        "not_finite(head)",
        GITHUB + "lucidrains/soundstorm-pytorch/issues/36",
    ),
    Bug(
        "vae_variance_overflows",
        "held_out",
        "logvar is in the hundreds for features that are not normalised: exp(logvar) is inf",
        (
            "std = torch.exp(0.5 * logvar)",
            "kld = -0.5 * torch.mean(1 + logvar - mu.pow(2) - logvar.exp())",
        ),
        ("exp", "inf|NaN|nan"),
        "torch.rand(64, 8) * 2000  # incomes, ages, ...",
        "torch.rand(64, 8)",
        "not_finite(loss)",
        GITHUB + "vanderschaarlab/synthcity/issues/331",
    ),
    Bug(
        "simsiam_without_stop_gradient",
        "seen",
        "z is not detached: both branches are trained, and all outputs become the same",
        (
            "return -F.cosine_similarity(p, z, dim=-1).mean()",
            "loss = D(p1, z2) / 2 + D(p2, z1) / 2",
        ),
        ("detach|no_grad",),
        "F.cosine_similarity(p, z, dim=-1)",
        "F.cosine_similarity(p, z.detach(), dim=-1)",
        "D(p1.detach(), z2).requires_grad",
        GITHUB + "lightly-ai/lightly/issues/559",
    ),
    Bug(
        "inplace_relu_changes_the_skip",
        "held_out",
        "the first ReLU works in place on input, which is added as the skip connection afterwards",
        ("nn.ReLU(inplace=True),", "out = out + input", "out = self.conv(input)"),
        ("in place|inplace|relu_",),
        """\
            nn.ReLU(inplace=True),
            nn.Linear(width, width),
            nn.ReLU(inplace=True),
""",
        """\
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(inplace=True),
""",
        "changed_by(block.conv, torch.full((2, 10), -1.0))",
        GITHUB + "rosinality/vq-vae-2-pytorch/issues/60",
    ),
    Bug(
        "residual_added_in_place",
        "seen",
        "out += residual changes the result of relu, which its backward needs",
        ("out += residual",),
        ("relu",),
        "out += residual",
        "out = out + residual",
        "True",
        GITHUB + "iMED-Lab/ER-Net/pull/3",
        error="modified by an inplace operation",
    ),
    Bug(
        "hidden_state_carried_over",
        "held_out",
        "hidden keeps the graph of the last batch, which backward() freed",
        ("out, hidden = lstm(x, hidden)",),
        ("hidden", "detach"),
        "    out, hidden = lstm(x, hidden)\n",
        "    out, hidden = lstm(x, tuple(h.detach() for h in hidden))\n",
        "True",
        "https://discuss.pytorch.org/t/runtimeerror-trying-to-backward-through-the-graph-a-second-time-but-the-buffers-have-already-been-freed-specify-retain-graph-true-when-calling-backward-the-first-time/6795/2",
        error="backward through the graph a second time",
    ),
    Bug(
        "running_center_keeps_its_graph",
        "seen",
        "center keeps the graphs of the features: each step walks through all earlier ones",
        (
            "center = 0.9 * center + 0.1 * features.mean(dim=0)",
            "loss.backward(retain_graph=True)",
        ),
        ("center|retain_graph",),
        "features.mean(dim=0)",
        "features.mean(dim=0).detach()",
        "center.requires_grad",
        "https://discuss.pytorch.org/t/runtimeerror-trying-to-backward-through-the-graph-a-second-time-but-the-buffers-have-already-been-freed-specify-retain-graph-true-when-calling-backward-the-first-time/6795/2",
    ),
    Bug(
        "actor_loss_reaches_the_critic",
        "held_out",
        "the advantage is not detached: the actor's loss trains the critic, too",
        (
            "actor_loss = -(dist.log_prob(action) * advantage).mean()",
            "advantage = reward - critic(state).squeeze(1)",
        ),
        ("critic|advantage",),
        "dist.log_prob(action) * advantage)",
        "dist.log_prob(action) * advantage.detach())",
        "reached(actor_loss, critic)",
        GITHUB + "astariul/encode-attend-navigate-pytorch/issues/2",
    ),
    Bug(
        "rounded_code",
        "seen",
        "the derivative of round is 0: the encoder gets only zeros",
        ("quantized = torch.round(code)",),
        ("round", "encoder"),
        "torch.round(code)",
        "code + (torch.round(code) - code).detach()",
        "zero_gradient(model.encoder)",
        GITHUB + "Justin-Tan/generative-compression/issues/27",
    ),
    Bug(
        "codebook_loss_on_the_copied_code",
        "held_out",
        "the loss of the codebook is computed from a result that detached it: it never learns",
        (
            "return x + (z - x).detach()  # straight through",
            "codebook_loss = F.mse_loss(z_q, z_e.detach())",
        ),
        ("codebook", "detach"),
        """\
    codebook_loss = F.mse_loss(z_q, z_e.detach())
""",
        """\
    nearest = torch.cdist(z_e.detach(), vq.codebook.weight).argmin(dim=1)
    codebook_loss = F.mse_loss(vq.codebook(nearest), z_e.detach())
""",
        "no_gradient(vq.codebook)",
        GITHUB + "showlab/Olaf-World/issues/8",
    ),
    Bug(
        "log_of_a_vanished_probability",
        "seen",
        "softmax of large logits is exactly 0, and the loss of its log is inf or NaN",
        (
            "return (-((1 - pt) ** self.gamma) * torch.log(pt)).mean()",
            "probs = torch.softmax(logits, dim=1)",
        ),
        ("log",),
        """\
        probs = torch.softmax(logits, dim=1)
        pt = probs.gather(1, target.unsqueeze(1))
        return (-((1 - pt) ** self.gamma) * torch.log(pt)).mean()
""",
        """\
        log_pt = torch.log_softmax(logits, dim=1).gather(1, target.unsqueeze(1))
        return (-((1 - log_pt.exp()) ** self.gamma) * log_pt).mean()
""",
        "not_finite(model)",
        GITHUB + "HeyLynne/FocalLoss_for_multiclass/issues/3",
    ),
    Bug(
        "optimizer_of_the_other_model",
        "held_out",
        "optimizer_D holds the parameters of the generator: the discriminator never moves",
        ("optimizer_D = optim.Adam(generator.parameters(), lr=2e-3)",),
        ("discriminator",),
        "optimizer_D = optim.Adam(generator.parameters(), lr=2e-3)",
        "optimizer_D = optim.Adam(discriminator.parameters(), lr=2e-3)",
        "not held_by(optimizer_D, discriminator)",
        GITHUB + "bohaohuang/mrs/issues/68",
    ),
    Bug(
        "gradients_never_zeroed",
        "seen",
        "nothing zeroes the gradients: each step uses the sum of all gradients so far",
        ("loss.backward()", "optimizer.step()"),
        ("zero_grad|accumulate|sum",),
        "            loss.backward()\n",
        "            optimizer.zero_grad()\n            loss.backward()\n",
        "losses[-1] > 0.01 * losses[0]",
        GITHUB + "wenet-e2e/wekws/issues/72",
    ),
    Bug(
        "learning_rate_too_high",
        "held_out",
        "lr = 0.01 is far too high for areas that are not normalised: the loss grows to inf",
        (
            "optimizer = torch.optim.SGD(model.parameters(), lr=0.01)",
            "area = torch.rand(50, 1) * 100 + 50  # square metres",
            "optimizer.step()",
        ),
        ("lr|learning rate",),
        "lr=0.01",
        "lr=5e-5",
        "not_finite(model)",
        "https://taourl.com/read-2580275.html",
    ),
    Bug(
        "learning_rate_too_low",
        "seen",
        "lr = 1e-8 changes weights by a hundred-millionth of their size",
        ("optimizer = optim.SGD(model.parameters(), lr=1e-8)", "optimizer.step()"),
        ("lr|learning rate",),
        "lr=1e-8",
        "lr=0.05",
        "history[-1] > 0.99 * history[0]",
        "https://taourl.com/read-2391810.html",
    ),
    Bug(
        "pixels_saturate_the_sigmoid",
        "held_out",
        "pixels up to 255 saturate the sigmoid, so that the first layer gets nothing",
        (
            "hidden = nn.Sequential(nn.Linear(784, 32), nn.Sigmoid())",
            "loss = nn.functional.binary_cross_entropy(model(images), labels)",
            "images = torch.randint(0, 256, (40, 784)).float()",
        ),
        ("sigmoid|Sigmoid",),
        "(0, 256, (40, 784)).float()",
        "(0, 256, (40, 784)).float() / 255",
        "model[0].weight.grad.abs().median() < 1e-12",
    ),
    Bug(
        "deep_sigmoids",
        "seen",
        "each sigmoid makes the gradient ten times smaller: the first layer gets nothing",
        (
            "layers += [nn.Linear(16, 16), nn.Sigmoid()]",
            "loss = nn.functional.cross_entropy(model(x), y)",
        ),
        ("sigmoid|Sigmoid", "vanish"),
        "nn.Sigmoid()]",
        "nn.BatchNorm1d(16), nn.ReLU()]",
        "model[0].weight.grad.norm() < 1e-9",
        "https://taourl.com/read-2391810.html",
    ),
    Bug(
        "recurrence_explodes",
        "held_out",
        "each of 25 multiplications with W makes the state and its gradient four times larger",
        ("h = h @ W + x[t] @ U", "W = nn.Parameter(torch.randn(hidden_size, hidden_size))"),
        ("W", "explod|grow|inf|large"),
        "torch.randn(hidden_size, hidden_size))",
        "torch.randn(hidden_size, hidden_size) * 0.1)",
        "not_finite(W)",
    ),
    Bug(
        "features_through_numpy",
        "seen",
        "the way through NumPy cuts the graph: conv never learns",
        (
            "peaks = np.max(x.detach().numpy(), axis=2)",
            "return self.fc(torch.from_numpy(peaks))",
        ),
        ("conv", "detach|numpy"),
        """\
        peaks = np.max(x.detach().numpy(), axis=2)
        return self.fc(torch.from_numpy(peaks))
""",
        "        return self.fc(x.max(dim=2).values)\n",
        "no_gradient(network.conv)",
        GITHUB + "delira-dev/delira/issues/40",
    ),
    Bug(
        "outputs_stacked_as_data",
        "held_out",
        ".data cuts the graph: the embedding and the cell never learn",
        ("return self.out(torch.stack(states, 1).data)",),
        ("data|detach", "cell|embed"),
        "torch.stack(states, 1).data",
        "torch.stack(states, 1)",
        "no_gradient(decoder.cell, decoder.embed)",
        GITHUB + "facebookresearch/inversecooking/issues/3",
    ),
    Bug(
        "features_detached_for_the_encoder",
        "seen",
        "the features are detached: compute_features never learns",
        ("x, _ = self.enc(feats.detach())",),
        ("compute_features", "detach"),
        "self.enc(feats.detach())",
        "self.enc(feats)",
        "brain.compute_features.weight not in optimizer.state",
        GITHUB + "speechbrain/speechbrain/issues/1396",
    ),
    Bug(
        "attention_normalised_over_queries",
        "held_out",
        "softmax over the queries (dim=1), and the product sums over the keys (dim=2)",
        (
            "self.weights = F.softmax(q @ k.transpose(-2, -1) * self.scale, dim=1)",
            "return self.weights @ v",
        ),
        ("softmax", "dim"),
        "self.scale, dim=1)",
        "self.scale, dim=-1)",
        "not torch.allclose(attention.weights.sum(-1), torch.ones(6, 5))",
        GITHUB + "motokimura/capsnet_pytorch/pull/1",
    ),
    Bug(
        "policy_normalised_over_the_batch",
        "seen",
        "softmax over the batch (dim=0): the probabilities of a state's actions do not sum to 1",
        ("nn.Softmax(dim=0),", "pred_batch = model(state_batch)"),
        ("softmax|Softmax", "dim"),
        "nn.Softmax(dim=0)",
        "nn.Softmax(dim=1)",
        "not torch.allclose(pred_batch.sum(1), torch.ones(25))",
        GITHUB + "DeepReinforcementLearning/DeepReinforcementLearningInAction/issues/32",
    ),
    Bug(
        "gradients_switched_off_by_evaluate",
        "held_out",
        "evaluate() switches gradients off and never on again",
        ("torch.set_grad_enabled(False)",),
        ("set_grad_enabled",),
        """\
    torch.set_grad_enabled(False)
    return (net(x) - x.prod(dim=1, keepdim=True)).abs().mean().item()
""",
        """\
    with torch.no_grad():
        return (net(x) - x.prod(dim=1, keepdim=True)).abs().mean().item()
""",
        "True",
        error="does not require grad",
    ),
    Bug(
        "kl_term_with_the_wrong_sign",
        "seen",
        "the divergence lacks its minus sign: the loss falls without bound",
        (
            "kl = 0.5 * torch.mean(1 + logvar - mu.pow(2) - logvar.exp())",
            "loss = reconstruction + kl",
        ),
        ("kl|loss|exp",),
        "kl = 0.5 *",
        "kl = -0.5 *",
        "kl < -1",
        GITHUB + "FluxML/model-zoo/pull/147",
    ),
    Bug(
        "optimizing_a_moved_image",
        "held_out",
        "to() returns a result, no leaf, which an optimizer cannot take",
        ("voice = torch.randn(1, 1, 32, requires_grad=True).to(device, torch.float64)",),
        ("voice", "leaf"),
        "torch.randn(1, 1, 32, requires_grad=True).to(device, torch.float64)",
        "torch.randn(1, 1, 32, device=device, dtype=torch.float64, requires_grad=True)",
        "True",
        GITHUB + "mazzzystar/randomCNN-voice-transfer/issues/16",
        error="can't optimize a non-leaf Tensor",
    ),
    Bug(
        "discriminator_stepped_between",
        "seen",
        "optimizerD.step() changes weights in place that the backward of errG still needs",
        ("optimizerD.step()",),
        ("optimizerD|step",),
        """\
    errG = -output.mean()

    netD.zero_grad()
    errD.backward()
    optimizerD.step()

    netG.zero_grad()
""",
        """\

    netD.zero_grad()
    errD.backward()
    optimizerD.step()

    errG = -netD(fake).mean()
    netG.zero_grad()
""",
        "True",
        GITHUB + "tamarott/SinGAN/pull/117",
        error="modified by an inplace operation",
    ),
    Bug(
        "parameter_rebound",
        "held_out",
        "w = w - ... makes a result of w, no leaf: from then on w.grad is None",
        ("w = w - lr * w.grad",),
        ("w", "leaf"),
        """\
    w = w - lr * w.grad
    b = b - lr * b.grad
""",
        """\
    with torch.no_grad():
        w -= lr * w.grad
        b -= lr * b.grad
    w.grad = b.grad = None
""",
        "not w.is_leaf",
        error="NoneType",
    ),
    Bug(
        "misspelt_requires_grad",
        "seen",
        "param.require_grad is a new attribute: the backbone stays frozen",
        (
            "param.require_grad = True",
            "param.requires_grad = False",
            "optimizer = torch.optim.Adam(params, lr=0.005)",
        ),
        ("require_grad|backbone",),
        "param.require_grad = True",
        "param.requires_grad = True",
        "no_gradient(backbone)",
        GITHUB + "udacity/deep-learning-v2-pytorch/issues/12",
    ),
    Bug(
        "warmup_by_integer_division",
        "held_out",
        "step // warmup_steps is 0 for all 200 steps: lr is 0 and nothing moves",
        (
            "scheduler = LambdaLR(optimizer, lambda step: min(1, step // warmup_steps))",
            "optimizer.step()",
        ),
        ("lr|learning rate|LambdaLR",),
        "step // warmup_steps",
        "step / warmup_steps",
        "optimizer.param_groups[0]['lr'] == 0",
    ),
    Bug(
        "plateau_waits_for_a_maximum",
        "seen",
        "mode='max' takes every fall of the loss for a plateau: lr falls to nearly 0",
        ('optimizer, mode="max", factor=0.1, patience=2', "scheduler.step(loss.item())"),
        ("lr|learning rate|max",),
        'mode="max"',
        'mode="min"',
        "optimizer.param_groups[0]['lr'] < 1e-6",
        GITHUB + "RMeli/gnina-torch/pull/57",
    ),
    Bug(
        "action_chosen_by_argmax",
        "held_out",
        "argmax and one_hot have no derivative: the loss of the policy never reaches it",
        (
            "return F.one_hot(logits.argmax(dim=1), logits.size(1)).float()",
            "acts = onehot_from_logits(policy(obs))",
        ),
        ("argmax|one_hot", "policy"),
        "F.one_hot(logits.argmax(dim=1), logits.size(1)).float()",
        "F.gumbel_softmax(logits, hard=True)",
        "no_gradient(policy)",
        GITHUB + "shariqiqbal2810/maddpg-pytorch/issues/11",
    ),
    Bug(
        "cross_entropy_by_hand",
        "seen",
        "the sigmoid is exactly 0 or 1 for large inputs, and 0 * log(0) is NaN",
        ("return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()",),
        ("log",),
        """\
    p = torch.sigmoid(net(x))
    loss = bce(p, y)
""",
        """\
    loss = nn.functional.binary_cross_entropy_with_logits(net(x), y)
""",
        "not_finite(net)",
        GITHUB + "emited/VariationalRecurrentNeuralNetwork/issues/2",
    ),
    Bug(
        "temperature_annealed_to_zero",
        "held_out",
        "the temperature is 0 in the last epoch: scores / 0 is inf, and softmax gives NaN",
        (
            "choice = torch.softmax(scores(x) / temperature, dim=1)",
            "temperature = 1.0 - epoch / epochs",
        ),
        ("div|temperature|softmax",),
        "temperature = 1.0 - epoch / epochs",
        "temperature = max(0.1, 1.0 - epoch / epochs)",
        "not_finite(scores)",
        GITHUB + "pytorch/pytorch/issues/184031",
    ),
    Bug(
        "cosine_of_an_unknown_word",
        "seen",
        "the vector of unknown words is 0, its norm 0, and 0 / 0 is NaN",
        ("a_norm = a / a.norm(dim=1, keepdim=True)",),
        ("norm|div",),
        "a / a.norm(dim=1, keepdim=True)",
        "a / a.norm(dim=1, keepdim=True).clamp(min=1e-8)",
        "not_finite(words)",
        GITHUB + "huggingface/sentence-transformers/issues/625",
    ),
    Bug(
        "gamma_of_negative_values",
        "held_out",
        "the images are standardised: a negative number to the power of 1.2 is NaN",
        ("return x**self.gamma",),
        ("pow|gamma", "negative|NaN|nan"),
        "x**self.gamma",
        "x.sign() * x.abs() ** self.gamma",
        "not_finite(net)",
        GITHUB + "TorchIO-project/torchio/issues/306",
    ),
    Bug(
        "log_probs_rewrapped",
        "seen",
        "torch.tensor copies the values of the log-probabilities, and not their graphs",
        ("policy_loss = -(torch.tensor(saved_log_probs) * returns).sum()",),
        ("tensor", "stack"),
        "torch.tensor(saved_log_probs)",
        "torch.stack(saved_log_probs)",
        "True",
        GITHUB + "kengz/SLM-Lab/pull/133",
        error="does not require grad",
    ),
    Bug(
        "loss_weights_without_an_optimizer",
        "held_out",
        "criterion has a parameter, log_vars, that no optimizer holds: it stays 0",
        (
            "optimizer = torch.optim.Adam(model.parameters(), lr=0.01)",
            "self.log_vars = nn.Parameter(torch.zeros(tasks))",
            "return (losses * torch.exp(-self.log_vars) + self.log_vars).sum()",
        ),
        ("log_vars",),
        "torch.optim.Adam(model.parameters(), lr=0.01)",
        "torch.optim.Adam([*model.parameters(), *criterion.parameters()], lr=0.01)",
        "not held_by(optimizer, criterion)",
        GITHUB + "ifzhang/FairMOT/issues/125",
    ),
    Bug(
        "pinn_residual_without_a_graph",
        "seen",
        "u_t has no graph without create_graph=True: the equation trains u as if u' were given",
        (
            "u_t = torch.autograd.grad(u, t, torch.ones_like(u), retain_graph=True)[0]",
            "residual = u_t + u",
        ),
        ("create_graph|u_t",),
        """\
    u_t = torch.autograd.grad(u, t, torch.ones_like(u), retain_graph=True)[0]
""",
        """\
    u_t = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
""",
        "not u_t.requires_grad",
        GITHUB + "pytorch/pytorch/issues/31984",
    ),
    Bug(
        "teacher_gets_gradients",
        "held_out",
        "the target of the loss has a graph: each step computes gradients of the teacher, too",
        ("t_logits = teacher(x)", "loss = F.mse_loss(s_logits, t_logits)"),
        ("teacher|t_logits", "detach|no_grad"),
        "    t_logits = teacher(x)\n",
        "    with torch.no_grad():\n        t_logits = teacher(x)\n",
        "not no_gradient(teacher)",
        GITHUB + "haitongli/knowledge-distillation-pytorch/issues/25",
    ),
    Bug(
        "adam_in_half_precision",
        "seen",
        "eps=1e-8 is 0 in float16: Adam divides 0 by 0 and writes NaN into the weights",
        ("optimizer.step()", "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)"),
        ("float16|half", "eps|Adam|step"),
        "lr=1e-3)",
        "lr=1e-3, eps=1e-4)",
        "not_finite(model)",
        GITHUB + "afiaka87/glide-finetune/issues/5",
    ),
    Bug(
        "place_rounded_to_an_index",
        "held_out",
        "long() has no derivative: the locator never learns where to look",
        ("start = (locator(strips) * 16).long()",),
        ("locator", "long|int64"),
        """\
    start = (locator(strips) * 16).long()
    window = start + torch.arange(4)
    crops = strips.gather(1, window)
""",
        """\
    place = locator(strips) * 16 + torch.arange(4)
    left = place.detach().long()
    right = (left + 1).clamp(max=19)
    crops = torch.lerp(strips.gather(1, left), strips.gather(1, right), place - left)
""",
        "no_gradient(locator)",
        GITHUB + "chenhsuanlin/3D-point-cloud-generation/issues/4",
    ),
    Bug(
        "layer_made_in_forward",
        "seen",
        "forward() makes the last layer anew in each call, so that it never learns",
        ("head = nn.Linear(self.width, 3)",),
        ("anew",),
        "        head = nn.Linear(self.width, 3)\n        return head(torch.relu(self.body(x)))",
        "        if not hasattr(self, 'head'):\n            self.head = nn.Linear(self.width, 3)\n"
        "            optimizer.add_param_group({'params': self.head.parameters()})\n"
        "        return self.head(torch.relu(self.body(x)))",
        "len(list(model.parameters())) == 2",
    ),
    Bug(
        "masked_weight_made_a_parameter",
        "seen",
        "nn.Parameter() around the masked weight begins a new leaf in each call",
        ("weight = nn.Parameter(self.weight * self.mask)",),
        ("anew",),
        "nn.Parameter(self.weight * self.mask)",
        "self.weight * self.mask",
        "no_gradient(model[0].weight, model[2].weight)",
    ),
    Bug(
        "prices_beyond_the_clamp",
        "seen",
        "the output is clamped to 0 to 1, and the targets are about 20",
        ("predicted = model(rooms).clamp(0, 1)",),
        ("clamp", "targets"),
        ".clamp(0, 1)",
        "",
        "(predicted <= 1).all()",
    ),
    Bug(
        "labels_from_one_on",
        "seen",
        "the labels of a binary cross entropy are 1 and 2: its loss falls without end",
        ("loss = criterion(model(x), y)", "y = label.float()"),
        ("targets",),
        "y = label.float()",
        "y = label.float() - 1",
        "loss.item() < 0",
    ),
    Bug(
        "weight_decay_of_one",
        "seen",
        "the weight decay is stronger than the gradient, and the weights become 0",
        ("optimizer = torch.optim.SGD(model.parameters(), lr=0.2, weight_decay=1.0)",),
        ("weight decay|weight_decay",),
        "weight_decay=1.0",
        "weight_decay=1e-4",
        "model[0].weight.abs().max().item() < 0.05",
    ),
    Bug(
        "penalty_larger_than_the_loss",
        "seen",
        "the penalty for large weights outweighs the loss, and the weights become 0",
        (
            "loss = nn.functional.cross_entropy(model(x), y) + lam * l2(model)",
            "lam = 1.0",
        ),
        ("penalty",),
        "lam = 1.0",
        "lam = 1e-4",
        "model[0].weight.abs().max().item() < 0.05",
    ),
    Bug(
        "clipped_to_nothing",
        "seen",
        "gradients are clipped to a norm of 1e-6, so that no step changes anything",
        ("nn.utils.clip_grad_norm_(model.parameters(), 1e-6)",),
        ("clip_grad_norm_|clipped", "1e-6"),
        "1e-6",
        "1.0",
        "(model[0].weight - start).abs().max().item() < 1e-4",
    ),
    Bug(
        "lambda_returns_the_rate",
        "seen",
        "LambdaLR multiplies the learning rate by what its function returns, which is the rate",
        (
            "scheduler = LambdaLR(optimizer, lr_lambda=schedule)",
            "return RATE * min(1.0, (step + 1) / 5)",
        ),
        ("factor",),
        "return RATE * min(",
        "return min(",
        "rate < 1e-6",
    ),
    Bug(
        "optimizer_made_for_each_batch",
        "seen",
        "Adam is made anew for each batch, so that its averages begin at 0 each time",
        ("optimizer = torch.optim.Adam(model.parameters(), lr=lr)",),
        ("optimizer", "anew"),
        "    optimizer = torch.optim.Adam(model.parameters(), lr=lr)\n",
        "    optimizer = kept[0] if kept else torch.optim.Adam(model.parameters(), lr=lr)\n",
        "len(made) > 1",
    ),
    Bug(
        "zeroed_in_each_micro_batch",
        "seen",
        "gradients are to be accumulated, and zero_grad() clears them in each micro batch",
        ("optimizer.zero_grad()",),
        ("cleared",),
        """\
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[batch]), y[batch]) / accumulate
        loss.backward()
        if (step + 1) % accumulate == 0:
            optimizer.step()
""",
        """\
        loss = nn.functional.cross_entropy(model(x[batch]), y[batch]) / accumulate
        loss.backward()
        if (step + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
        "True",
    ),
    Bug(
        "critic_frozen_for_good",
        "seen",
        "D is frozen for the loss of G, and never set free: it learns in the first call only",
        ("p.requires_grad_(False)",),
        ("D.0.weight|D", "requires_grad"),
        "    opt_g.step()\n",
        "    opt_g.step()\n    D.requires_grad_(True)\n",
        "not any(p.requires_grad for p in D.parameters())",
    ),
    Bug(
        "own_predictions_as_targets",
        "seen",
        "the targets are the argmax of the same output, and the labels are not used",
        (
            "loss = nn.functional.cross_entropy(out, predicted)",
            "predicted = out.argmax(dim=1)",
        ),
        ("argmax",),
        "cross_entropy(out, predicted)",
        "cross_entropy(out, labels)",
        "right < 0.7",
    ),
    Bug(
        "sentence_of_padding_only",
        "seen",
        "a sentence consists of padding, which is ignored: the mean over no target is NaN",
        ("loss = criterion(output(embedding(sentence[:-1])), sentence[1:])",),
        ("ignore_index",),
        "    sentence = words[row]\n",
        "    sentence = words[row]\n    if not sentence.any():\n        continue\n",
        "not_finite(torch.tensor(history))",
    ),
    Bug(
        "critic_never_zeroed",
        "seen",
        "nothing clears the gradients of D, which the loss of G adds to as well",
        ("loss_d.backward()",),
        ("opt_d.zero_grad()|zero_grad()",),
        "    loss_d.backward()\n",
        "    opt_d.zero_grad()\n    loss_d.backward()\n",
        "True",
    ),
)
