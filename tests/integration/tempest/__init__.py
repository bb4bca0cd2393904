"""Tempest on the cloud that runs: our plugin, and what changes for others."""
