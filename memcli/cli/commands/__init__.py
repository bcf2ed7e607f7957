"""One file for each verb, or for verbs of one subject: the options, the help, and a call of a use case.

A file is found by its name, so nothing else may be here; what several verbs need is in `memcli/cli/`.
"""
