"""The prompts for language models: for each its VERSION, the SCHEMA of the answer, a function that makes the prompt, and one
that reads the answer and raises ValueError if it does not fit the schema.

Raise VERSION with any change of a prompt, because stored answers are found by it.
"""
