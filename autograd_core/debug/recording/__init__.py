"""How a pass is run node by node, taken back, and kept in memory."""
