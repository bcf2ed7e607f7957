"""The context window of a task: what a budget of tokens holds of a system prompt, a session and what is recalled.

It is filled and printed here; what a session is, its chunks, and recall are in the core.
"""
