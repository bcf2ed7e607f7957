"""Detection of secrets, of hidden instructions, and of text that memcli itself recalled. Pure: rules are data in `*.jsonl` and
`words.json`; `app/` and `policy/` decide what follows from a finding."""

VERSION = 3
"""Raised when any text is judged differently: an index keeps what was found in the memories of a space."""
