"""Images built from deploy/ on this machine, and nova-api started in them."""
