"""Inside nova-compute: what keeps overrides where Nova re-reads Glance."""
