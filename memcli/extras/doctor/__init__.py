"""What `memcli doctor` checks of the installation, the model, the store and its surroundings."""
