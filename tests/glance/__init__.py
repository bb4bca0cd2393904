"""Tests with a real Glance, in an environment of its own (make test-glance)."""

# Must come before anything of Nova.
import testing.harness  # noqa: F401
