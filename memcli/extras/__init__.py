"""The extras, which the core does not need and never imports: servers, screens, agents, providers, readers of files of other
programs.

Each folder is one extra. It may import the core, but no other extra; the core imports it by name at run time.
"""
