"""The compute part, without a service; it imports Nova's objects."""

from nova import objects

objects.register_all()
