"""The MCP server: the Model Context Protocol over standard input and, with the official SDK, over HTTP.

Its tools run verbs; no use case belongs here.
"""
