"""What tests, demo and benchmarks share; no part of the package."""
