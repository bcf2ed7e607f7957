"""Git, several clones and many commands, drawn from a seed and judged by a model that knows nothing of memcli's code."""
