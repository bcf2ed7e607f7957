"""What one does with whole stores: copy and sync them, put their files in order, index them and look into their log.

It works on the two sides that it is given, files or servers; what a server is like is in `extras/postgres/`.
"""
