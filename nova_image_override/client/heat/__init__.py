"""A folder for ``plugin_dirs`` of heat.conf."""
