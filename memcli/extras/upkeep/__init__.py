"""Upkeep of the memories of a store: tasks that propose steps with reasons, by memories and their uses, and the code that
carries these steps out.

Tasks are pure functions. No task deletes a memory, and nothing here calls a language model.
"""
