"""Flavor and image properties together, before a server exists."""
