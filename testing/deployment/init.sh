#!/bin/busybox sh
# The guest: tells on its console what it finds itself to be, then idles.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
dmesg -n 1
exec >/dev/ttyS0 2>&1

# A controller's driver finds devices that need one in turn. Disks come when
# they like. Devices on other buses have no modules here, and modprobe compares
# each device with each line of modules.alias: a second for an emulated CPU.
cd /sys/bus || exit
known=
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
    devices=$(cat pci/devices/*/modalias pnp/devices/*/modalias \
        scsi/devices/*/modalias usb/devices/*/modalias \
        virtio/devices/*/modalias 2>/dev/null | sort -u)
    [ "$devices" = "$known" ] && ls -d /sys/block/[hsvf]d* >/dev/null 2>&1 \
        && break
    # shellcheck disable=SC2086  # None of them has a blank.
    [ "$devices" = "$known" ] || modprobe -abq $devices
    known=$devices
    sleep 0.5
done

# Before anything is said: what the serial port is sending while UEFI's variables
# are read or written can come out garbled.
if [ -d /sys/firmware/efi ]; then
    variables=/sys/firmware/efi/efivars
    mount -t efivarfs efivarfs "$variables"
    # Four bytes of attributes precede a value (efivarfs in the kernel's
    # documentation).
    secure=$(tail -c 1 \
        "$variables/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c" |
        hexdump -e '"%d"')
    # Is there still what it wrote in an earlier boot?
    mark=$variables/Mark-6f2b1d0c-94a7-4c5e-8d53-1e0c7b9a2f46
    if [ -e "$mark" ]; then found=kept; else
        found=new
        printf '\007\000\000\000m' >"$mark"
    fi
fi
# What came before, a boot loader's, need not have ended with a line.
echo
say() { echo "GUEST $*"; }
say "cmdline $(cat /proc/cmdline)"
say "cpus $(nproc)"
for cpu in /sys/devices/system/cpu/cpu[0-9]*/topology; do
    say "cpu $(cat "$cpu/package_cpus_list" "$cpu/core_cpus_list" | xargs)"
done
say "flags $(sed -n 's/^flags.*: //p' /proc/cpuinfo | head -n 1)"
say "address $(sed -n 's/^address sizes.*: //p' /proc/cpuinfo | head -n 1)"
for node in /sys/devices/system/node/node[0-9]*; do
    memory=$(awk '/MemTotal/ {print $4}' "$node/meminfo")
    say "node ${node##*/node} $(cat "$node/cpulist") $memory"
done
for disk in /sys/block/[hsvf]d* /sys/block/sr*; do
    [ -e "$disk" ] && say "disk ${disk##*/} $(readlink -f "$disk")"
done
# The drive that Nova writes its metadata to.
drive=$(findfs LABEL=config-2 2>/dev/null) &&
    mount -r -t iso9660 "$drive" /mnt &&
    say "configuration $drive $(ls /mnt/openstack/latest | xargs)"
say "machine $(cat /sys/class/dmi/id/chassis_version)"
say "tables $(ls /sys/firmware/acpi/tables | xargs)"
for device in /sys/bus/pci/devices/*; do
    say "pci $(cat "$device/class" "$device/vendor" "$device/device" | xargs)"
done
for device in /sys/bus/usb/devices/*; do
    [ -e "$device/idVendor" ] &&
        say "usb $(cat "$device/idVendor" "$device/idProduct" | xargs)"
done
for device in /sys/bus/virtio/devices/*; do
    [ -e "$device" ] &&
        say "virtio $(cat "$device/device" "$device/features" | xargs)"
done
for card in /sys/class/net/*; do
    [ -e "$card/device" ] || continue
    driver=$(readlink "$card/device/driver")
    queues=$(find "$card/queues" -name 'tx-*' | wc -l)
    say "card $(cat "$card/address") ${driver##*/} $queues"
done
say "serial $(grep -c 16550A /proc/tty/driver/serial)"
for channel in /sys/class/virtio-ports/*; do
    [ -e "$channel" ] || continue
    say "channel $(cat "$channel/name")"
    agent=/dev/${channel##*/}
done
if [ -d /sys/firmware/efi ]; then
    say "firmware uefi $secure"
    say "variables $found"
fi
for tpm in /sys/class/tpm/tpm*; do
    [ -e "$tpm" ] || continue
    driver=$(readlink "$tpm/device/driver")
    say "tpm $(cat "$tpm/tpm_version_major") ${driver##*/}"
done
say ready

# Disks that come and go from now on.
disks() { (cd /sys/block && echo [hsvf]d*); }
known=$(disks)
# What QEMU's guest agent is asked to do; all of it goes well.
word() { echo "$line" | sed -n "s/.*\"$1\": *\"*\([^\",}]*\).*/\1/p"; }
exec 3<>"${agent:-/dev/null}"
while :; do
    while read -r line <&3; do
        case $(word execute) in
        guest-sync*) echo "{\"return\":$(word id)}" >&3 ;;
        # How many file systems it has frozen, or thawed.
        guest-fsfreeze-*)
            say "agent $(word execute)"
            echo '{"return":1}' >&3
            ;;
        *)
            say "agent $(word execute) $(word username)"
            echo '{"return":{}}' >&3
            ;;
        esac
    done
    now=$(disks)
    [ "$now" = "$known" ] || say "disks $now"
    known=$now
    sleep 1
done
