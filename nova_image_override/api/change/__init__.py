"""Everything that changes the overrides of a server."""
