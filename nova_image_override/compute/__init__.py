"""Inside nova-compute: keeps overrides where Nova re-reads Glance."""
