"""Which hosts can take a server, by the steps of Nova's scheduler."""
