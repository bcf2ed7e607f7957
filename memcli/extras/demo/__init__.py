"""The guided tour: memcli's commands, run one after the other in a store that is deleted in the end.

It runs the program as a user does, and calls nothing of it but what finds the work tree.
"""
