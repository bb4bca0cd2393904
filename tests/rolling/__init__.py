"""The extension comes and goes, and Nova is upgraded, under load."""
