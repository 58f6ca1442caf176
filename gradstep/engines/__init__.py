"""The engines that come with gradstep, each behind :mod:`gradstep.contract`: the core, PyTorch, and
recordings of either."""
