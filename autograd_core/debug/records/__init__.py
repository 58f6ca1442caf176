"""What a session hands out: frozen records, and tensors as they are shown."""
