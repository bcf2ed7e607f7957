"""What language models are asked, one file a prompt: its VERSION, the SCHEMA of the answer, `make` and `read`.

Raise VERSION with any change: answers are kept by it. `read` checks what `SCHEMA` asks for, and raises ValueError.
"""
