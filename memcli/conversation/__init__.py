"""What memcli makes of a conversation: chunks, summaries, facts, episodes, topics and the context window. Pure."""
