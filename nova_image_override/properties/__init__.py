"""What can be named in a request: the image properties that Nova reads."""
