"""Elements picked, and put, by index or mask."""
