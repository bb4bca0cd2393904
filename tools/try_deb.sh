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
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' |
         head -n 1)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" \
    >"$root.log" 2>&1 || { tail "$root.log" >&2; exit 1; }
rm "$root.log"
cp "$deb" "$root/package.deb"
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
apt() { in_root apt-get -qq -o APT::Sandbox::User=root -o Dpkg::Use-Pty=0 "$@"; }
apt install --yes --no-install-recommends /package.deb \
    python3-openstackclient >"$root/log" 2>&1 ||
    { tail "$root/log" >&2; exit 1; }

# expect STATUS TEXT COMMAND...: the command ends with STATUS and prints TEXT.
expect() {
    status=$1 text=$2
    shift 2
    ended=0
    said=$(in_root "$@" 2>&1) || ended=$?
    case $ended:$said in
    $status:*"$text"*) echo "ok: $*" ;;
    *) echo "FAILED: $* ended with $ended: $said" >&2; exit 1 ;;
    esac
}

expect 0 'nova-image-override 1.' nova-image-override --version
expect 0 'check' nova-image-override --help
# There is no Nova: one line says so.
expect 1 "is not installed in" nova-image-override check
expect 255 "is not installed in" nova-image-override-status upgrade check
expect 0 '--image-prop-override' openstack help server create
expect 0 'image override check' openstack help image override check
expect 0 '' test -s /usr/share/man/man1/nova-image-override.1.gz
expect 0 '' test -s /usr/share/bash-completion/completions/nova-image-override
expect 0 '' dpkg --verify python3-nova-image-override
apt remove --yes python3-nova-image-override >"$root/log" 2>&1
expect 127 '' nova-image-override --version
