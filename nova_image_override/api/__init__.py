"""Inside nova-api: subclasses of Nova's own classes, and nothing patched."""
