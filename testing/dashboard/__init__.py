"""A real Horizon with the plugin, before the cloud of testing.site."""
