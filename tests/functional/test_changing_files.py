"""Presets and policy files that change all the time."""

import contextlib
import subprocess
import sys

from nova_image_override import errors
from testing.harness import base
from tests.functional import presets

#: Puts a file in place of each, empties it, writes it again, cuts it off,
#: moves it away; until it is told to end. A policy file that is cut off fails
#: every request in Nova itself (oslo_policy.policy.Rules.load).
CHANGES = '''
import os, pathlib, select, sys, time
paths = [*map(pathlib.Path, sys.argv[1:])]
texts = [path.read_text() for path in paths]
turns = 0
print('begins', flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    for path, text in zip(paths, texts):
        new = path.with_name(path.name + '.new')
        for change in (
                lambda: (new.write_text(text), os.replace(new, path)),
                lambda: path.write_text(''), lambda: path.write_text(text),
                lambda: path.name == 'policy.yaml' or path.write_text(
                    text[:len(text) // 2]),
                lambda: os.replace(path, new), lambda: os.replace(new, path)):
            change()
            time.sleep(0.002)
            turns += 1
for path, text in zip(paths, texts):
    path.write_text(text)
print(turns)
'''


@contextlib.contextmanager
def changing(*paths):
    """Change files all the time; yields a list for the number of changes."""
    changes = []
    with subprocess.Popen(
            [sys.executable, '-c', CHANGES, *paths], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == 'begins\n'
        try:
            yield changes
        finally:
            changes.append(int(process.communicate('\n', 30)[0]))


class TestFilesThatChange:
    CLOUD = presets.Cloud

    def test_they_neither_open_nor_close_nor_break_anything(self, cloud):
        flavor = cloud.flavor()

        def check(name=None, overrides=None):
            return cloud.check(overrides, flavor=flavor, server={
                errors.PRESET: name} if name else {})

        with changing(str(cloud.path),
                      base.CONF.oslo_policy.policy_file) as changes:
            for _ in range(5):
                check('vga').expect(200)
                check('secret').expect(
                    400, {errors.PRESET: errors.UNKNOWN_PRESET})
                check(overrides={'hw_machine_type': 'q35'}).expect(
                    403, {'hw_machine_type': errors.DENIED})
                assert {'vga', 'menu', 'no-pmu'} == set(
                    cloud.discover()['presets'])
        assert changes[0] > 12
        check('secret').expect(400, {errors.PRESET: errors.UNKNOWN_PRESET})
        check('vga').expect(200)
