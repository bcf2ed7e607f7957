"""What the core does not need and never imports: servers, screens, agents, providers and readers of other programs' files.

Each folder is one extra. It may import the core, but no other extra; the core finds it by name alone.
"""
