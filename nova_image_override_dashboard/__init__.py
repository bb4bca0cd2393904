"""Image property overrides in Horizon: a plugin, beside unmodified Horizon."""
