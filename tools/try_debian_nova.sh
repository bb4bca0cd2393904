#!/bin/sh
# Install the Debian package beside Debian's own Nova, and use both.
#
# usage: tools/try_debian_nova.sh DEB RELEASE ROOT  (root on Debian: debootstrap)
#
# ROOT is made, with the Nova of RELEASE (trixie), unless it is there. nova-api runs
# as its unit starts it, but without systemd.
set -eu

deb=$(realpath "$1")
. "$(dirname "$0")/debian_root.sh"
make_root "$2" "$3" crudini nova-api nova-compute-qemu nova-conductor \
    placement-api procps rabbitmq-server systemd
isolate "$0" "$@"

# Everything below /etc and /usr, to compare.
all() { (cd "$root" && find etc usr -xdev -type f ! -name '*.pyc' \
    ! -path etc/ld.so.cache -exec cksum {} + | sort -k 3); }
as_nova() { in_root setpriv --reuid=nova --regid=nova --init-groups "$@"; }
manage() { as_nova nova-manage "$@" >>"$root/log" 2>&1; }
paste=$root/etc/nova/api-paste.ini
conf=$root/etc/nova/nova.conf
unit=$root/etc/systemd/system/nova-compute.service.d/image-override.conf

all >"$root/before"

cp "$deb" "$root/package.deb"
apt install /package.deb
expect 0 '' dpkg --verify python3-nova-image-override
expect 0 'Result: Success' nova-image-override-status upgrade check
expect 0 'nova-api would start' nova-image-override check

# nova-api's own unit starts Debian's uWSGI, which reads Debian's api-paste.ini. There
# is no Keystone: what it would say of a user is in the request.
in_root sed -i -e 's/nova.api.openstack.compute:APIRouterV21.factory/nova_image_override.api.router:APIRouterV21.factory/' \
    -e 's/ authtoken / /' /etc/nova/api-paste.ini
cp -p "$conf" "$root/nova.conf"
# Not a section twice: the scripts of Debian's packages count its lines.
in_root crudini --merge /etc/nova/nova.conf <<'END'
[DEFAULT]
transport_url = rabbit://guest:guest@127.0.0.1
[api_database]
connection = sqlite:////var/lib/nova/try-api
[database]
connection = sqlite:////var/lib/nova/try
[conductor]
workers = 1
[image_override]
allowed_properties = hw_disk_bus=virtio|scsi
[placement]
auth_type = admin_token
endpoint = http://127.0.0.1:8778
token = admin
END
manage api_db sync
manage cell_v2 map_cell0 \
    --database_connection sqlite:////var/lib/nova/try0
manage db sync
# Debian's sixteen workers would each start Nova.
cp "$root/etc/nova/nova-api-uwsgi.ini" "$root/uwsgi.ini"
sed -i 's/^processes = .*/processes = 1/' "$root/etc/nova/nova-api-uwsgi.ini"
as_nova sh -c 'cd /var/lib/nova && exec /etc/init.d/nova-api systemd-start' \
    >"$root/log" 2>&1 &
nova_api=$!
expect 0 '"hw_disk_bus"' python3 -c '
import time, urllib.request
asked = urllib.request.Request(
    "http://127.0.0.1:8774/v2.1/image-props-override",
    headers={"X-User-Id": "demo", "X-Project-Id": "demo", "X-Roles": "member"})
for left in reversed(range(60)):
    try:
        print(urllib.request.urlopen(asked, timeout=60).read().decode())
        break
    except OSError as exc:
        if not left:
            raise SystemExit(exc)
        time.sleep(1)'
kill "$nova_api"
mv "$root/uwsgi.ini" "$root/etc/nova/nova-api-uwsgi.ini"

# An upgrade of Nova's packages leaves the line.
apt install --reinstall nova-common nova-api
expect 0 'nova_image_override.api.router' \
    grep '^paste.app_factory' /etc/nova/api-paste.ini

# With the drop-in systemd starts the other program in Debian's unit, with its
# arguments, and nova-compute tells nova-api of the compute part.
mkdir -p "${unit%/*}"
cp "$root/usr/share/nova-image-override/nova-compute-debian.conf" "$unit"
manage cell_v2 create_cell --name cell1
cat >"$root/placement.conf" <<'END'
[api]
auth_strategy = noauth2
[placement_database]
connection = sqlite:////var/lib/placement/try
END
cat >"$root/try" <<'END'
#!/bin/sh -e
cat /placement.conf >>/etc/placement/placement.conf
as() { user=$1; shift; setpriv --reuid="$user" --regid="$user" --init-groups "$@"; }
as placement placement-manage db sync
systemctl start rabbitmq-server libvirtd placement-api nova-conductor nova-compute
for second in $(seq 60); do
    as nova nova-image-override computes | grep ' 1.0 ' && break
    sleep 1
done
systemctl is-active nova-compute
tr '\0' ' ' </proc/$(systemctl show --property MainPID --value nova-compute)/cmdline
END
chmod 755 "$root/try"
printf '[Unit]\nSuccessAction=exit\nFailureAction=exit\n[Service]\nType=oneshot\nStandardOutput=tty\nExecStart=/try\n' \
    >"$root/etc/systemd/system/try.service"
mount -t proc proc /proc
set --
[ -d /run/systemd/system ] || set -- --register=no --keep-unit
SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 systemd-nspawn --quiet "$@" \
    --directory="$root" --volatile=overlay --private-network \
    --console=read-only --boot -- --unit=try.service --show-status=no \
    >"$root/log" 2>&1 || { cat "$root/log" >&2; exit 1; }
for text in ' 1.0 ' '/usr/bin/nova-compute-image-override --config-file'; do
    grep -e "$text" "$root/log"
done
rm "$root/etc/systemd/system/try.service"

# Who removes the package too early is told.
expect 0 'api-paste.ini still names nova_image_override' \
    apt-get -qq --yes remove python3-nova-image-override
rm -r "${unit%/*}"
mv "$root/nova.conf" "$conf"
cp "$root/usr/share/nova-common/api-paste.ini" "$paste"
in_root dpkg --purge python3-nova-image-override
all | diff "$root/before" - && echo "ok: nothing is left"
rm -rf "$changes"
