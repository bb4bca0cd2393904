#!/bin/sh
# Unit tests and the short functional pass of what a wheel installs.
#
# usage: tools/try_wheel.sh WHEEL ENVIRONMENT    (dist/*.whl .venv/nova-29)
#
# The tests are those of this checkout, in a copy of it that has nothing of the
# package but what was installed from the wheel. What has passed is written down
# for the README's table (testing/platforms.py).
set -eu

wheel=$(realpath "$1")
python=$(realpath "$2")/bin/python
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m pip install --quiet --no-deps --no-compile \
    --disable-pip-version-check --target "$work/installed" "$wheel"
mkdir "$work/tests"
git ls-files -z | xargs -0 tar -c --exclude=./nova_image_override \
    --exclude='nova_image_override/*' | tar -x -C "$work/tests"
ln -s "$work/installed/nova_image_override" "$work/tests/"
cd "$work/tests"
export PYTHONPATH="$work/installed" HYPOTHESIS_PROFILE=few
status=0
"$python" -m pytest --junitxml="$work/unit.xml" tests/unit || status=1
"$python" -m pytest --junitxml="$work/short.xml" tests/functional tests/proof \
    -m smoke || status=1
[ $status = 0 ] || exit 1
cd "$here"
PYTHONPATH=$here "$python" -W ignore -m testing.platforms \
    unit="$work/unit.xml" short="$work/short.xml"
