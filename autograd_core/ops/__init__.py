"""The ops, one short entry each, by family."""
