"""What requests cost, compared with unmodified Nova."""
