"""The graph of memories, and clusters of vectors: pure functions over values. Nothing here reads a store or an index."""
