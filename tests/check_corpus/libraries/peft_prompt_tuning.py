"""Learn a prompt in front of a frozen model."""

import torch
from peft import PromptTuningConfig, TaskType, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
base = GPT2LMHeadModel(GPT2Config(vocab_size=32, n_positions=32, n_embd=32, n_layer=2, n_head=4))
config = PromptTuningConfig(task_type=TaskType.CAUSAL_LM, num_virtual_tokens=4)
model = get_peft_model(base, config)
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.3)
history = []
for step in range(30):
    ids = torch.randint(0, 4, (16, 8))
    loss = model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=ids).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.99 * history[0]
