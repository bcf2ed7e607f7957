"""Trust: what somebody accepts of a clone, an import, or a memory that carries instructions, and what waits for that.

What is withheld until then is decided in the core (`store/trust.py`, `safety/injection/`).
"""
