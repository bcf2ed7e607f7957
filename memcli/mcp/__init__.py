"""The MCP server: the protocol of agents, on the official SDK. What its tools do comes from its caller."""
