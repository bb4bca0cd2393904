"""``nova-image-override check``: what is wrong with a deployment's rules.

Each module holds one group of findings; a finding is a function of the
:class:`~nova_image_override.cmd.check.cloud.Cloud` that yields what it finds.
"""
