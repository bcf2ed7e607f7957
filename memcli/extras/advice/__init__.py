"""The uses of a language model: to describe a note, make room, judge recalled memories, sum up a session, and name topics.

The prompts, the readers of the answers, and the code that acts on them. Providers are in another extra, and nothing here is
needed without a model.
"""
