"""The command `session context`: fills a budget of tokens with a system prompt, a session and recalled memories.

Sessions, their chunks, and recall are in the core.
"""
