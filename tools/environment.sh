#!/bin/sh
# Build the private environment of one Nova release, from nothing.
#
# usage: tools/environment.sh RELEASE     (31, 32, 33 or 34)
#
# Leaves .venv/nova-RELEASE with the packages of constraints/nova-RELEASE.txt
# and this checkout, editable. The stamp file .ready is written last: whatever
# interrupts this, the next run begins again. make runs it only when the stamp
# is older than what it was made from.
set -eu

release=$1
python=${PYTHON:-python3}
venv=.venv/nova-$release
pins=constraints/nova-$release.txt

fail() {
    echo "environment.sh: $*" >&2
    exit 1
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    fail "$python is not Python 3.11 or newer: name one that is, such as" \
         "make PYTHON=python3.11"

echo "Building $venv (once)" >&2
"$python" -m venv --clear "$venv" >&2 ||
    fail "$python cannot make environments: on Debian and Ubuntu install" \
         "python3-venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check \
    --constraint "$pins" uv

# uv does not read pip's configuration: give it the mirror and the
# certificates that pip, just now, could work with.
index=${PIP_INDEX_URL:-$("$venv/bin/pip" config get global.index-url \
                         2>/dev/null || true)}
export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$index}"
export UV_SYSTEM_CERTS=1
"$venv/bin/uv" pip install --quiet --python "$venv/bin/python" \
    --constraint "$pins" --build-constraint "$pins" \
    --editable '.[nova,test,docs]'

touch "$venv/.ready"
