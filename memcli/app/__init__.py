"""What memcli does: one use case a file. Each takes a Workspace, returns a value, and prints nothing."""
