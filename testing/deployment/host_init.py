"""The first process of a compute host's namespaces.

``python -m testing.deployment.host_init NAME READY SOURCE:PLACE...``:
mounts, names the host, writes READY, and then outlives all others.
"""

import os
import pathlib
import socket
import subprocess
import sys
import time


def main(name: str, ready: str, *mounts: str) -> None:
    """Prepare the namespaces and wait for the end."""
    # Without control groups libvirt runs guests without any, and leaves
    # nothing in those of the machine; with a /run of its own it finds no other
    # daemon's socket.
    if os.path.ismount('/sys/fs/cgroup'):
        subprocess.run(['umount', '--recursive', '/sys/fs/cgroup'], check=True)
    subprocess.run(['mount', '-t', 'tmpfs', 'tmpfs', '/run'], check=True)
    for mount in mounts:
        source, _, place = mount.rpartition(':')
        # What is left of this on a machine without libvirt's own services are
        # empty folders, as Debian's libvirt-daemon-system makes them.
        if not os.path.exists(place):
            os.makedirs(place)
        subprocess.run(['mount', '--bind', source, place], check=True)
    socket.sethostname(name)
    pathlib.Path(ready).touch()
    while True:
        try:
            os.wait()
        except ChildProcessError:
            time.sleep(0.5)


if __name__ == '__main__':
    main(*sys.argv[1:])
