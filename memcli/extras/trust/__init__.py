"""The command `trust`: accepts a cloned store, imported memories, or memories that contain instructions.

What is withheld until then is decided in the core (`store/trust.py`, `safety/injection/`).
"""
