#!/bin/sh
# Build the files to distribute into dist/, from what is committed.
#
# usage: tools/packages.sh VENV [deb|rpm]...
#
# VENV has build, twine, check-manifest and cyclonedx-bom (.venv/packages, which
# make builds). sdist and wheel are built twice and must be identical: times in
# them are those of the last commit. deb and rpm need Debian's debhelper and rpm.
set -eu

venv=$1
shift
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
umask 022

# Debian's own Python, whatever a developer has before it in PATH.
system=/usr/sbin:/usr/bin:/sbin:/bin

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/source"
git archive HEAD | tar -x -C "$work/source"

for round in 1 2; do
    # A different path each time: neither may appear in what is built.
    cp -a "$work/source" "$work/$round"
    "$venv/bin/python" -m build --no-isolation --outdir "$work/out$round" \
        "$work/$round" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
    # gzip's header has the build time, tar's has users.
    "$venv/bin/python" tools/normalise_sdist.py "$work/out$round"/*.tar.gz
done
for file in "$work/out1"/*; do
    cmp "$file" "$work/out2/$(basename "$file")"
done
"$venv/bin/twine" check --strict "$work/out1"/*
mkdir -p dist
cp "$work/out1"/* dist/

"$venv/bin/cyclonedx-py" requirements constraints/nova-34.txt \
    --pyproject packaging/sbom.toml --output-reproducible \
    --of JSON -o dist/nova-image-override.cdx.json

for kind; do
    case $kind in
    deb)
        sdist=$(ls "$work/out1"/*.tar.gz)
        version=$("$venv/bin/python" -c 'import configparser as c; p = c.ConfigParser(); p.read("setup.cfg"); print(p["metadata"]["version"])')
        cp "$sdist" "$work/nova-image-override_$version.orig.tar.gz"
        mkdir "$work/deb"
        tar -x -C "$work/deb" --strip-components=1 -f "$sdist"
        cp -a "$work/source/packaging/debian" "$work/deb/debian"
        (cd "$work/deb" && PATH=$system dpkg-buildpackage -us -uc) >"$work/log" 2>&1 ||
            { cat "$work/log" >&2; exit 1; }
        cp "$work"/*.deb "$work"/*.dsc "$work"/*.debian.tar.* dist/
        ;;
    rpm)
        PATH=$system rpmbuild -bb --nodeps --define "_topdir $work/rpm" \
            --define "_sourcedir $work/out1" \
            "$work/source/packaging/rpm/nova-image-override.spec" \
            >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
        # It has Debian's paths: a trial of the spec, not for installation.
        rpm -qp --list "$work"/rpm/RPMS/noarch/*.rpm | grep -c . >"$work/files"
        echo "The spec makes an rpm of $(cat "$work/files") files, which is not kept"
        ;;
    esac
done
echo 'Made:'
ls dist | sed 's/^/  dist\//'
for kind in deb:dh rpm:rpmbuild; do
    case " $* " in
    *" ${kind%:*} "*) ;;
    *) echo "Not made: ${kind%:*}. ${kind#*:} is not installed (packaging/README.md), or KINDS leaves it out" ;;
    esac
done
