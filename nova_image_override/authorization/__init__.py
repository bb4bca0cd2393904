"""Authorization of overrides: the deployer's rules, Glance's, oslo.policy's."""
