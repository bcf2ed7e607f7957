"""Hidden instructions: the readings of a text, the rules that match them, and the screening of memories. A new rule is a row in
`rules.json`; withholding a memory is up to the callers."""
