"""Detection of secrets and of hidden instructions in text, and of text that memcli recalled itself. Pure: the rules are data in
`rules.json` and `words.json`; what is done about a finding is decided in `app/` and `policy/`."""
