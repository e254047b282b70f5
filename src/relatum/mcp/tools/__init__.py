"""The tools, by what they are about; `relatum.mcp.table` puts them in order."""
