"""`memcli doctor`: checks of the installation, the model, the store and its surroundings.

Nothing here repairs anything; problems of stored memories are found in `extras/check/`.
"""
