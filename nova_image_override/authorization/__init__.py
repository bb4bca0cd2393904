"""Who may override what: the deployer's rules, Glance's and oslo.policy's.

:class:`nova_image_override.authorization.enforcer.Enforcer` asks them in order
and yields one decision for each.
"""
