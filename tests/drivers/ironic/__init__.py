"""A real Ironic, and what tests need of it."""
