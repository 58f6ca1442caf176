"""New tensors: of given values, in steps, or random."""
