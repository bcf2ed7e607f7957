"""Hidden instructions: the rules, the readings of a text that they see, and the screening of memories."""
