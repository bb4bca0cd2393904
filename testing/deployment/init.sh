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
say ready
while :; do sleep 3600; done
