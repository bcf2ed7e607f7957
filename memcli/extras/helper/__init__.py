"""The helper: a process that holds the index, the model and all modules, and answers the commands of one store.

It runs only beside something that runs anyway: a session of an agent, or `mcp`, `watch`, `serve` or `browse`. Commands ask
it by `memcli/client.py`, and do without it where there is any doubt. `python -m memcli.extras.helper` runs it.
"""
