#!/bin/sh
# Install the Debian package into a bare Debian, and use what it contains.
#
# usage: tools/try_deb.sh DEB     (root on Debian, with debootstrap)
#
# The bare system has the release and the mirror of this machine; it is removed
# again.
set -eu

deb=$1
. /etc/os-release
. "$(dirname "$0")/debian_root.sh"
bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT

make_root "$VERSION_CODENAME" "$bare/root"
cp "$deb" "$root/package.deb"
apt install /package.deb python3-openstackclient

expect 0 'nova-image-override 1.' nova-image-override --version
expect 0 'check' nova-image-override --help
# There is no Nova: one line says so.
expect 1 "is not installed in" nova-image-override check
expect 255 "is not installed in" nova-image-override-status upgrade check
expect 0 '--image-prop-override' openstack help server create
expect 0 'image override check' openstack help image override check
expect 0 '' test -s /usr/share/man/man1/nova-image-override.1.gz
expect 0 '' dpkg --verify python3-nova-image-override
apt remove python3-nova-image-override
expect 127 '' nova-image-override --version
