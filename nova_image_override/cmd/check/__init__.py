"""``nova-image-override check``: what is wrong with a deployment's rules.

Each module holds one group of checks; a check is a function that takes the
:class:`~nova_image_override.cmd.check.cloud.Cloud` and yields what it finds.
"""
