"""Image property overrides in Horizon: a plugin for an unmodified Horizon."""
