"""A real cloud on one machine: the rig that runs it, and its tests."""
