"""Where spaces are kept: files under `.memory/`."""
