"""Soft actor-critic of stable-baselines3, which learns its temperature, too."""

import gymnasium
import numpy as np
import torch
from stable_baselines3 import SAC


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


def error():
    shown = np.linspace(-0.9, 0.9, 19, dtype=np.float32).reshape(-1, 1)
    said, _ = model.predict(shown, deterministic=True)
    return float(np.abs(said - shown).mean())


torch.set_num_threads(1)
model = SAC("MlpPolicy", Aim(), learning_rate=5e-3, learning_starts=50, batch_size=64, gamma=0.1,
            policy_kwargs={"net_arch": [32]}, seed=0, device="cpu")  # fmt: skip
before = error()
model.learn(250)
assert error() < 0.6 * before
