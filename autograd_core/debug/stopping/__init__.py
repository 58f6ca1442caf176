"""Where to stop: breakpoints, and the expressions in their conditions."""
