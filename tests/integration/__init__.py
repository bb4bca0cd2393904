"""A real cloud on one machine: the deployment that runs it, and its tests."""
