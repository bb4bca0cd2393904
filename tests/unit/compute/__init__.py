"""The compute part, without a service."""
