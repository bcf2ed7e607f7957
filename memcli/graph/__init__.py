"""The graph of memories, pure: nodes and edges, what surrounds a memory, clusters."""
