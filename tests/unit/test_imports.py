"""Every module can be imported before Nova has registered its objects.

``nova.objects`` has its classes once a service, or one of our commands, has
called ``register_all()``: a module that needs one of them when it is imported
works or fails depending on what was imported before it.
"""

import subprocess
import sys

import pytest

#: Imports each module in turn. Some of Nova's own modules register objects:
#: they are hidden from ours as if none had.
PROGRAM = '''
import importlib
import pkgutil
import sys
import traceback
import types

from nova import objects
import nova_image_override

PACKAGE = nova_image_override.__name__


class Hidden(types.ModuleType):
    def __getattribute__(self, name):
        if name[0].isupper() and sys._getframe(1).f_globals[
                '__name__'].startswith(PACKAGE):
            raise AttributeError(f'nova.objects.{name} is not registered yet')
        return super().__getattribute__(name)


objects.__class__ = Hidden
failed = False
for module in pkgutil.walk_packages(
        nova_image_override.__path__, f'{PACKAGE}.'):
    # The clients have environments of their own, without Nova.
    if not module.name.startswith(f'{PACKAGE}.client'):
        print(module.name)
        try:
            importlib.import_module(module.name)
        except AttributeError:
            traceback.print_exc()
            failed = True
sys.exit(failed)
'''


@pytest.mark.process
def test_no_module_needs_novas_objects_to_be_imported():
    done = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c', PROGRAM],
        capture_output=True, text=True, timeout=300, check=False)
    assert 'nova_image_override.cmd.list_computes' in done.stdout
    assert done.returncode == 0, done.stderr
