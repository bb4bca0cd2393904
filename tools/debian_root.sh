# A bare Debian to try packages in: sourced, by root, with debootstrap.
#
# make_root RELEASE DIRECTORY, then in_root, apt and expect work in it.
# shellcheck shell=sh

make_root() {
    root=$2
    [ ! -e "$root/.made" ] || return 0
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' |
             head -n 1)
    rm -rf "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase "$1" "$root" "$mirror" >"$root.log" 2>&1 ||
        { tail "$root.log" >&2; return 1; }
    rm "$root.log"
    touch "$root/.made"
}

in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

# apt-get, which shows what it says only where it fails.
apt() {
    in_root apt-get -qq -o APT::Sandbox::User=root -o Dpkg::Use-Pty=0 \
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
