"""HTTP: the memory for browsers and programs. It calls verbs through a `Backend`, as the other interfaces do."""
