"""Proof: it changes nothing for those who do not use it, nothing gets past it.

Each test runs in a short form with the others. ``PROOF=full`` asks for the
full form.
"""

# Before anything of Nova, as its harness requires.
import testing.harness  # noqa: F401
