"""What memcli knows of source text: definitions, symbols, anchors, globs. Pure."""
