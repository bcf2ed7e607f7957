"""Bytes to values and back: the canonical form of everything that memcli stores."""
