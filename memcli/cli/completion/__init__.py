"""Shell completions."""
