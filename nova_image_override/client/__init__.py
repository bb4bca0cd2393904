"""Inside the tenant's tools; imports neither Nova nor oslo.config."""
