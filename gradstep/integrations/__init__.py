"""Doors for programs whose training loop is a framework's: each is a module of its own."""
