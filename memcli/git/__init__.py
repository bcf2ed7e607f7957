"""Git, seen from the store: the one room that runs it."""
