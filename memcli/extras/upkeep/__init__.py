"""Upkeep of what is remembered: tasks that turn memories and their uses into steps with reasons, and what carries these out.

The tasks are pure: they get what they look at, and return steps. No task deletes, and nothing here asks a language model.
"""
