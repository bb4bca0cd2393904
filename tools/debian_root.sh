# A bare Debian to try packages in: sourced, by root, with debootstrap.
#
# make_root RELEASE DIRECTORY PACKAGE..., then, if nothing is to stay of what is
# done in it, isolate; then in_root, apt and expect work in it.
# shellcheck shell=sh

# What is there is kept: only packages that were never asked for are installed.
make_root() {
    release=$1 root=$2
    shift 2
    if [ ! -e "$root/.made" ]; then
        mirror=$(apt-get indextargets --format '$(SITE)' \
            'Created-By: Packages' | head -n 1)
        rm -rf "$root"
        mkdir -p "$root"
        debootstrap --variant=minbase "$release" "$root" "$mirror" \
            >"$root.log" 2>&1 || { tail "$root.log" >&2; return 1; }
        rm "$root.log"
        printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
        chmod 755 "$root/usr/sbin/policy-rc.d"
        echo "127.0.0.1 localhost $(hostname)" >"$root/etc/hosts"
        touch "$root/.made"
    fi
    for package; do
        grep -qx "$package" "$root/.made" || set -- "$@" "$package"
        shift
    done
    [ $# -gt 0 ] || return 0
    mount -t proc proc "$root/proc"
    installed=0
    apt install "$@" || installed=$?
    umount "$root/proc"
    [ $installed = 0 ] || return $installed
    printf '%s\n' "$@" >>"$root/.made"
}

# isolate SCRIPT ARGUMENT...: start the script once more, with a network and
# processes of its own, which end with it. What it then changes in the root is in
# DIRECTORY.run, until the next time. It waits for whoever else works in the root.
isolate() {
    [ -n "${ISOLATED:-}" ] || ISOLATED=yes exec \
        unshare --net --mount --pid --fork --kill-child "$@"
    ip link set lo up
    exec 9>"$root.lock"
    flock 9
    changes=$root.run
    rm -rf "$changes"
    mkdir -p "$changes/files" "$changes/work"
    mount -t overlay -o \
        "lowerdir=$root,upperdir=$changes/files,workdir=$changes/work" \
        overlay "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
}

in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

# apt-get, which shows what it says only where it fails.
apt() {
    in_root apt-get -qq -o APT::Sandbox::User=root -o Dpkg::Use-Pty=0 \
        -o Dpkg::Options::=--force-unsafe-io \
        --yes --no-install-recommends "$@" >"$root/log" 2>&1 ||
        { tail -n 20 "$root/log" >&2; return 1; }
}

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
