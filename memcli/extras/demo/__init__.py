"""The guided tour: commands of memcli, run one after the other in a store that is deleted at the end.

It runs the program in processes of its own, as a user does; use cases do not belong here.
"""
