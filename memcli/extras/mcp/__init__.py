"""The MCP server: the protocol of agents, over standard input and, on the official SDK, over HTTP. What its tools do comes
from its caller."""
