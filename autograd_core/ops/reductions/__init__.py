"""Sums, means, norms, order: what makes one element of many, or goes along a dimension."""
