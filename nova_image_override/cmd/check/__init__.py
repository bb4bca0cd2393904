"""``nova-image-override check``: mistakes in a deployment's rules."""
