"""``make demo``: one image booted twice, as it is and with overrides."""
