"""What requests cost, beside unmodified Nova."""
