"""Find the homography between two images by its gradient."""

import kornia
import torch
from kornia.geometry.transform import ImageRegistrator

torch.manual_seed(0)
smooth = kornia.filters.gaussian_blur2d(torch.rand(1, 1, 32, 32), (9, 9), (3.0, 3.0))
image = (smooth - smooth.min()) / (smooth.max() - smooth.min())
moved = kornia.geometry.translate(image, torch.tensor([[2.0, -1.0]]))
finder = ImageRegistrator("similarity", num_iterations=30, lr=2e-3, pyramid_levels=2)
before = (image - moved).abs().mean()
found = finder.register(image, moved)
with torch.no_grad():
    warped = kornia.geometry.homography_warp(image, found, (32, 32))
assert (warped - moved).abs().mean() < before
