"""What a user has changed in a pass, and what came of it."""
