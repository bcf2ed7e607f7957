"""The full-screen browser. Only `memcli browse` imports it, since Textual is an extra."""
