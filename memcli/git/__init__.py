"""Git and the work tree: the only package that starts git, with its hooks, its merge driver, and the rules of what is ignored.
What is made of commits and files belongs in `ingest/`; nothing that a repository configures may be run."""
