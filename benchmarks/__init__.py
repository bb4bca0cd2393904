"""``make bench``: what the extension costs, as ratios to Nova itself."""
