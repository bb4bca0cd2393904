"""Tempest on the running cloud: our plugin, and what changes for others."""
