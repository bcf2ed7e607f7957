"""What a language model is asked for: to describe, to make room, to judge what is recalled, to sum up, to name.

The prompts, how answers are read, and what is done by them; no provider is known here, and nothing here is needed without a model.
"""
