"""What recall keeps beside the store: words, vectors, places. All of it can be deleted at any time."""
