"""The store in files: spaces under `.memory/`, and the private state that belongs to them."""
