"""Flavor and image properties together, before a server exists.

Elsewhere in Nova a conflict of the two leaves the server in ERROR.
"""
