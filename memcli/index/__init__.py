"""The index of each space, in the cache: words, vectors and positions, in SQLite; and the view of an index, which is also that
of a server. All files can be deleted at any time; neither decisions of a ranking nor SQL of a server belong here."""
