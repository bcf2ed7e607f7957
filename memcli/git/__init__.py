"""Git and the work tree: the one package that runs git, and what it ignores, lists and holds."""
