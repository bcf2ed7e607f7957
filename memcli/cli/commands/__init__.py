"""One file for each verb or group: its options, its help, and the call of a use case.

A command is found by the name of its file, so nothing else may be here; what several verbs need is in `memcli/cli/`.
"""
