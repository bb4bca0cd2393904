"""Tests over HTTP against real nova-api, conductor, scheduler and compute."""

# Before anything of Nova.
import testing.harness  # noqa: F401
