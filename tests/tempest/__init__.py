"""The plugin of Tempest itself; its tests need a cloud, these do not."""
