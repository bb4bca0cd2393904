#!/bin/sh
# A cloud of Debian's own packages, in which guests boot with overrides.
#
# usage: tools/try_debian_cloud.sh DEB RELEASE ROOT TEST...
#                                               (root on Debian: debootstrap)
#
# ROOT is made, with every service of RELEASE (trixie), unless it is there. The
# tests are those of the real cloud; of the package there is what DEB brings.
# What a cloud that fails leaves behind is in ROOT.run.
set -eu

deb=$(realpath "$1") release=$2 directory=$3
here=$(realpath "$(dirname "$0")/..")
. "$here/tools/debian_root.sh"

# The checkout, without the package.
tests() {
    mkdir -p "$root/srv/tests"
    (cd "$here" && tar -c README.md pyproject.toml share testing tests) |
        tar -x -C "$root/srv/tests"
}
python() {
    in_root env --chdir=/srv/tests CLOUD_STATE=/srv/cloud python3 -W ignore "$@"
}

# shellcheck disable=SC2046
make_root "$release" "$directory" $(cd "$here" && python3 -c \
    'from testing.deployment import machine; print(*machine.PACKAGES)') \
    glance-api keystone neutron-openvswitch-agent neutron-server nova-api \
    nova-compute-qemu nova-conductor nova-scheduler placement-api procps \
    python3-openstackclient python3-pymysql python3-pytest python3-waitress \
    systemd
if [ -z "${ISOLATED:-}" ] && [ ! -e "$root/srv/cloud/guest/package" ]; then
    # There is no network later on.
    tests
    python -c 'from testing.deployment import guest, state
guest.Guest(state.State.default()).make()'
fi
isolate "$0" "$@"
shift 3
mount -t sysfs -o ro sysfs "$root/sys"
mkdir -p "$root/run/nova" "$root/run/lock/nova"

cp "$deb" "$root/package.deb"
apt install /package.deb
tests
python -m testing.deployment --packages run \
    pytest -p no:cacheprovider -rs "$@"
rm -rf "$changes"
