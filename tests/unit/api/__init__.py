"""Unit tests of the API part, which imports Nova's objects."""

from nova import objects

objects.register_all()
