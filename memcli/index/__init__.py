"""The index of each space, which recall keeps in the cache: words, vectors, places, in SQLite; and the view of an index,
which a server's shares. All files can be deleted at any time; no decision of a ranking belongs here, nor SQL of a server."""
