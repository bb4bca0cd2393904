#!/bin/sh
# Unit tests and the short functional pass on the Python of a Debian release.
#
# usage: tools/try_python.sh RELEASE ROOT WHEEL    (root on Debian: debootstrap)
#
# ROOT is made, unless it is there, and gets a clone of this checkout, in which
# the environment of Nova 34 is built with RELEASE's python3, and WHEEL tried.
set -eu

release=$1 wheel=$3
figures=docs/source/contributor/figures/platforms.jsonl
. "$(dirname "$0")/debian_root.sh"
make_root "$release" "$2"
# procps has uptime, which Nova's libvirt driver runs.
[ -e "$root/usr/bin/uptime" ] ||
    apt install ca-certificates gcc git libc6-dev make procps python3-dev \
        python3-venv
# Names and certificates with which this machine reaches its package index.
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
git init --quiet "$root/src"
git -C "$root/src" fetch --quiet "$PWD" HEAD
git -C "$root/src" checkout --quiet --force --detach FETCH_HEAD
cp "$figures" "$root/src/$figures"
cp "$wheel" "$root/srv"
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
trap 'umount "$root/proc" "$root/dev"' EXIT
in_root env HOME=/root ${PIP_INDEX_URL:+PIP_INDEX_URL="$PIP_INDEX_URL"} sh -ec '
    cd /src
    python3 --version
    make PYTHON=python3 .venv/nova-34/.ready
    tools/try_wheel.sh /srv/*.whl .venv/nova-34'
cp "$root/src/$figures" "$figures"
