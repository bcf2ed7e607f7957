"""What one does with whole stores: copy and sync them, tidy them up, index them and look into their log."""
