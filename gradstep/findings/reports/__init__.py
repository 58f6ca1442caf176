"""What the debugger says: tensors and places as text, why it stopped, why a gradient is so."""
