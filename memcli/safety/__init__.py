"""Detection of secrets, of hidden instructions, and of text that memcli itself recalled. Pure: rules are data in `*.jsonl` and
`words.json`; `app/` and `policy/` decide what follows from a finding."""
