"""What `memcli doctor` checks of the installation, the model, the store and its surroundings.

It looks at the machine and repairs nothing; what is wrong with stored memories is found in `extras/check/`.
"""
