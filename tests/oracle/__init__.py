"""The whole program against a plain model of it, one random day after another."""
