"""What every index computes in the same way: documents of memories, their terms, vectors as numbers. Pure."""
