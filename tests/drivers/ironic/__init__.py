"""A real Ironic, and what tests make of it."""
