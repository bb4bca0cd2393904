#!/bin/busybox sh
# The guest: tells on its console what it finds itself to be, then idles.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
while read -r module; do insmod "/modules/$module"; done </modules/order
exec >/dev/ttyS0 2>&1

# Disks that sit behind a SCSI or IDE controller come when they like.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    ls -d /sys/block/[hsv]d* >/dev/null 2>&1 && break
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
for node in /sys/devices/system/node/node[0-9]*; do
    memory=$(awk '/MemTotal/ {print $4}' "$node/meminfo")
    say "node ${node##*/node} $(cat "$node/cpulist") $memory"
done
for disk in /sys/block/[hsv]d*; do
    [ -e "$disk" ] && say "disk ${disk##*/}"
done
say "machine $(cat /sys/class/dmi/id/chassis_version)"
for device in /sys/bus/pci/devices/*; do
    case $(cat "$device/class") in
    0x03*) say "display $(cat "$device/vendor") $(cat "$device/device")" ;;
    0x04*) say "sound $(cat "$device/vendor") $(cat "$device/device")" ;;
    esac
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
while :; do sleep 3600; done
