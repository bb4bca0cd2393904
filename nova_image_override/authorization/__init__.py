"""Authorization of overrides: the deployer's rules, Glance's, oslo.policy's.

:class:`nova_image_override.authorization.enforcer.Enforcer` asks them in order
and yields one decision for each.
"""
