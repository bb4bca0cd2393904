"""What is measured on the real cloud of :mod:`tests.integration.rig`."""
