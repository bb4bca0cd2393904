"""Give an sdist the times of SOURCE_DATE_EPOCH, and no user's name.

usage: tools/normalise_sdist.py FILE

setuptools writes the time of the build into gzip's header, and into the tar
archive the times of the files that it has made, with the builder's name.
"""

import gzip
import io
import os
import pathlib
import sys
import tarfile


def main() -> int:
    """Rewrite the archive that is named."""
    path = pathlib.Path(sys.argv[1])
    epoch = int(os.environ['SOURCE_DATE_EPOCH'])
    written = io.BytesIO()
    with tarfile.open(path) as old, tarfile.open(
            fileobj=written, mode='w', format=tarfile.PAX_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda each: each.name):
            content = old.extractfile(member) if member.isfile() else None
            member.mtime = epoch
            member.uid = member.gid = 0
            member.uname = member.gname = ''
            member.pax_headers = {}
            new.addfile(member, content)
    with open(path, 'wb') as file, gzip.GzipFile(
            '', 'wb', 9, file, epoch) as packed:
        packed.write(written.getvalue())
    return 0


if __name__ == '__main__':
    sys.exit(main())
