"""What memcli makes of a conversation: chunks, summaries, facts, episodes, topics and the context window.

Pure functions of messages, without a store, a clock or a model; what is done with a result is decided in `app/`.
"""
