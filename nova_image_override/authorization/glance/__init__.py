"""Glance's own rules about image properties, read from copies of its files."""
