"""Q-learning of stable-baselines3, with its target network and replay buffer."""

import gymnasium
import numpy as np
import torch
from stable_baselines3 import DQN


class Corridor(gymnasium.Env):
    """Walk to the right end of a short corridor."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.time = 0, 0
        return self.seen(), {}

    def seen(self):
        return np.array([self.place / 4, self.time / 10], np.float32)

    def step(self, action):
        self.place = max(-4, min(4, self.place + (1 if action else -1)))
        self.time += 1
        return self.seen(), self.place / 4, self.place == 4, self.time == 10, {}


def score():
    env, total = Corridor(), 0.0
    observation, _ = env.reset()
    for _ in range(10):
        action, _ = model.predict(observation, deterministic=True)
        observation, reward, over, late, _ = env.step(action)
        total += reward
        if over or late:
            break
    return total


torch.set_num_threads(1)
model = DQN(
    "MlpPolicy", Corridor(), learning_rate=3e-3, learning_starts=100, target_update_interval=50,
    exploration_fraction=0.5, batch_size=64, policy_kwargs={"net_arch": [32]}, seed=0, device="cpu",
)  # fmt: skip
model.learn(600)
assert score() > 1
