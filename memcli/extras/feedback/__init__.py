"""Feedback: judgements of what was recalled, and the questions that nothing answered.

Both are only noted on this machine; what is changed by judgements is in `extras/upkeep/`, and who notes questions in `app/usage.py`.
"""
