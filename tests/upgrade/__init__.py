"""A cloud whose databases go from one release of Nova to the next."""

# The harness first: it decides how Nova's threads run.
import testing.harness  # noqa: F401
