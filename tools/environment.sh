#!/bin/sh
# Build a private environment, from nothing.
#
# usage: tools/environment.sh NAME EXTRAS     (nova-34 nova,test,docs)
#
# Leaves .venv/NAME with the packages of constraints/NAME.txt and this
# checkout, editable, with EXTRAS of setup.cfg. The stamp file .ready is written last: whatever
# interrupts this, the next run begins again. make runs it only when the stamp
# is older than what it was made from.
set -eu

name=$1
extras=$2
python=${PYTHON:-python3}
venv=.venv/$name
pins=constraints/$name.txt

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
    --editable ".[$extras]"

touch "$venv/.ready"
