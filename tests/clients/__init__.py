"""Tests of clients against real nova-api, over HTTP on loopback.

The clients run in an environment of their own, which ``CLIENTS`` names.
"""

# Before anything of Nova: its harness must be the first to import it.
from tests import functional  # noqa: F401
