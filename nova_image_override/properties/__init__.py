"""The image properties that Nova reads, which requests can name."""
