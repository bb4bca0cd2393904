"""Pairs of image properties, defined by a real libvirt."""

import importlib.util

from testing.deployment import installation

# What guests are made with is imported before any command runs.
if importlib.util.find_spec('libvirt') is None:
    installation.OWN.link_bindings()
