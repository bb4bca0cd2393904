"""Serve a WSGI application on loopback, with as many processes as asked for.

``python -m testing.deployment.serve PORT WORKERS MODULE``: MODULE holds
``application``, as OpenStack's ``*.wsgi.*`` modules do. waitress, because
uWSGI and cheroot refuse the chunked uploads of glanceclient, and with them
Nova's snapshots.
"""

import importlib
import os
import socket
import sys

import waitress


def main(port: str, workers: str, module: str) -> None:
    """Serve until a signal ends the process."""
    listener = socket.create_server(('127.0.0.1', int(port)), backlog=128)
    for _ in range(int(workers) - 1):
        if os.fork() == 0:
            break
    # Neutron reads its options from there.
    sys.argv[1:] = []
    application = importlib.import_module(module).application
    waitress.serve(application, sockets=[listener], threads=8)


if __name__ == '__main__':
    main(*sys.argv[1:])
