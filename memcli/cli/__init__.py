"""The command line: open, call, emit."""
