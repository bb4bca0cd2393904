#!/bin/sh
# Build a private environment, from nothing.
#
# usage: tools/environment.sh NAME EXTRAS [VERSION]  (nova-29 nova,test 3.12)
#
# VERSION is of the Python to take, if there is one, in place of $PYTHON.
#
# Leaves .venv/NAME with the packages of constraints/NAME.txt (or of $PINS, with the
# pins $OTHER in place of its own) and this checkout, editable, or the wheel $WHEEL, with EXTRAS of
# setup.cfg. The stamp file .ready is written last: whatever interrupts this, the
# next run begins again. make runs it only when the stamp is older than what it
# was made from.
set -eu

name=$1
extras=$2
python=${PYTHON:-python3}
version=${3:-}
venv=.venv/$name
pins=${PINS:-constraints/$name.txt}

fail() {
    echo "environment.sh: $*" >&2
    exit 1
}

answers() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null
}

# pyenv has those that are not on PATH.
if [ -z "$version" ]; then
    :
elif answers "python$version"; then
    python=python$version
elif found=$(PYENV_VERSION=$(pyenv latest "$version" 2>/dev/null) \
             pyenv which python 2>/dev/null) && answers "$found"; then
    python=$found
else
    echo "There is no Python $version here: $name gets $python" >&2
fi
answers "$python" ||
    fail "$python is not Python 3.9 or newer: name one that is, such as" \
         "make PYTHON=python3.11"

echo "Building $venv (once)" >&2
"$python" -m venv --clear "$venv" >&2 ||
    fail "$python cannot make environments: on Debian and Ubuntu install" \
         "python3-venv"
if [ -n "${OTHER:-}" ]; then
    echo "$OTHER" | tr ' ' '\n' >"$venv/other.txt"
    sed 's/\(.*==\).*/^\1/' "$venv/other.txt" |
        grep --invert-match --file=- "$pins" |
        cat - "$venv/other.txt" >"$venv/pins.txt"
    pins=$venv/pins.txt
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check \
    --constraint "$pins" uv

# uv does not read pip's configuration: give it the mirror and the
# certificates that pip, just now, could work with.
index=${PIP_INDEX_URL:-$("$venv/bin/pip" config get global.index-url \
                         2>/dev/null || true)}
export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$index}"
export UV_SYSTEM_CERTS=1
if [ -n "${WHEEL:-}" ]; then
    set -- "$WHEEL[$extras]"
else
    set -- --editable ".[$extras]"
    # setuptools would write its metadata, entry points too, into the checkout:
    # tests of other environments read them there while they are rewritten
    # (make --jobs), and find no command. Old ones there would be found first.
    rm -rf nova_image_override.egg-info
    mkdir "$venv/metadata"
    export DIST_EXTRA_CONFIG="$PWD/$venv/metadata/setup.cfg"
    printf '[egg_info]\negg_base = %s\n' "$PWD/$venv/metadata" \
        >"$DIST_EXTRA_CONFIG"
fi
install() {
    "$venv/bin/uv" pip install --quiet --python "$venv/bin/python" \
        --constraint "$pins" --build-constraint "$pins" "$@"
}
# uv 0.13.8 was once seen to crash, in glibc's pthread_detach: only what ended by
# a signal is tried again.
install "$@" || {
    ended=$?
    [ "$ended" -gt 128 ] || exit "$ended"
    install "$@"
}
if [ -z "${WHEEL:-}" ]; then
    # What a wheel has for the shell, and an editable package has not.
    mkdir -p "$venv/share"
    ln -s "$PWD/share/nova-image-override" "$venv/share/"
fi

touch "$venv/.ready"
