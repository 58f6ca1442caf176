"""PPO of stable-baselines3 on a continuous action."""

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback


class Aim(gymnasium.Env):
    """Say the number that was shown."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        self.target = self.np_random.uniform(-1, 1, 1).astype(np.float32)
        return self.target, {}

    def step(self, action):
        reward = -float(np.abs(action - self.target)[0])
        self.time += 1
        self.target = self.np_random.uniform(-1, 1, 1).astype(np.float32)
        return self.target, reward, False, self.time == 20, {}


class Rewards(BaseCallback):
    def __init__(self):
        super().__init__()
        self.means = []

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        self.means.append(self.model.rollout_buffer.rewards.mean())


torch.set_num_threads(1)
rewards = Rewards()
model = PPO("MlpPolicy", Aim(), learning_rate=3e-3, n_steps=128, n_epochs=4, gamma=0.1, seed=0,
            policy_kwargs={"net_arch": [16], "log_std_init": -0.5}, device="cpu")  # fmt: skip
model.learn(1024, callback=rewards)
assert rewards.means[-1] > 0.8 * rewards.means[0]  # they are negative
