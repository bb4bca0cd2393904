"""A real Horizon with the plugin, in front of the cloud of testing.site."""
