"""The API part, inside nova-api."""

# nova/api/wsgi.py uses it and does not import it.
import webob.dec as webob_dec  # noqa: F401
