"""What is measured on the real cloud of :mod:`testing.deployment`."""
