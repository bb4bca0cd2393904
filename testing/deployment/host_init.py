"""The first process of a compute host's namespaces.

``python -m testing.deployment.host_init NAME READY PAGES USR SOURCE:PLACE...``:
mounts, names the host, writes READY, and then outlives all others. With PAGES,
a folder, it mounts the host's huge pages there, and counts the free ones. What
is in USR, a folder, lies over /usr.
"""

import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import time

from testing.deployment import hugepages
from testing.deployment import topology


def main(name: str, ready: str, pages: str, usr: str, *mounts: str) -> None:
    """Prepare the namespaces and wait for the end."""
    if usr:
        subprocess.run(['mount', '-t', 'overlay', '-o', f'lowerdir={usr}:/usr',
                        'overlay', '/usr'], check=True)
    # If there are no control groups, libvirt runs guests without any, and
    # leaves nothing in those of the machine; with a /run of its own it finds
    # no other daemon's socket.
    if os.path.ismount('/sys/fs/cgroup'):
        subprocess.run(['umount', '--recursive', '/sys/fs/cgroup'], check=True)
    subprocess.run(['mount', '-t', 'tmpfs', 'tmpfs', '/run'], check=True)
    if pages:
        # Of the kernel's pool, these pages are this host's, and no more.
        size = topology.NODES * hugepages.PER_NODE * hugepages.SIZE
        subprocess.run(
            ['mount', '-t', 'hugetlbfs', '-o', f'pagesize={hugepages.SIZE}K,'
             f'size={size}K,min_size={size}K', 'hugetlbfs', pages], check=True)
    for mount in mounts:
        source, _, place = mount.rpartition(':')
        # All that this leaves on a machine without libvirt's own services is
        # empty folders, as Debian's libvirt-daemon-system makes them.
        if not os.path.exists(place):
            os.makedirs(place)
        subprocess.run(['mount', '--rbind', source, place], check=True)
    socket.sethostname(name)
    pathlib.Path(ready).touch()
    while True:
        # First reap what has ended; then look at what has not.
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        if pages:
            # A guest that ends meanwhile is not counted the next time.
            with contextlib.suppress(OSError):
                topology.count_free_pages()
        time.sleep(0.5)


if __name__ == '__main__':
    main(*sys.argv[1:])
