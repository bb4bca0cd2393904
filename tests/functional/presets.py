"""Clouds whose operator offers presets."""

import os
import pathlib

import fixtures
import yaml

from nova_image_override import errors
from testing.harness import base
from tests.functional import update_case

PRESETS = '''
vga:
  description: A plain screen, and a scsi disk
  properties:
    hw_disk_bus: scsi
    hw_video_model: vga
menu:
  description: With a boot menu
  properties: {hw_boot_menu: yes}
  flavors: [m1.small, m1.large]
no-pmu:
  description: Without what the image says
  properties: {hw_pmu: null}
secret:
  description: Only for some
  properties: {hw_boot_menu: true}
closed:
  description: Cannot be used, one of its properties is denied
  properties: {hw_boot_menu: true, hw_machine_type: q35}
'''

VGA = {'hw_disk_bus': 'scsi', 'hw_video_model': 'vga'}


def written(presets):
    """Return a file with these presets: name -> properties."""
    return yaml.safe_dump({
        name: {'description': name, 'properties': properties}
        for name, properties in presets.items()})


class Cloud(update_case.Cloud):
    """Nothing is open but what presets have, and hw_vif_model."""

    OPTIONS = {'allowed_properties': ['hw_vif_model'],
               'denied_properties': ['hw_machine_type']}
    POLICY = {
        'os_compute_api:servers:create:image_props_override:preset:secret':
        'role:secret'}
    PRESETS = PRESETS

    def _setup_services(self):
        self.path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'presets.yaml')
        self.path.write_text(self.PRESETS)
        self.OPTIONS = {**self.OPTIONS, 'presets_file': str(self.path)}
        super()._setup_services()

    def rewrite(self, text):
        """Change the file until the test ends."""
        # Reads what an earlier test has put back.
        self.http('GET', '/image-props-override')
        for each in (text, self.PRESETS):
            def write(each=each):
                new = self.path.with_name('new')
                new.write_text(each)
                os.replace(new, self.path)

            if each is text:
                write()
            else:
                self.addCleanup(write)

    def with_preset(self, name, overrides=None, server=None, **kwargs):
        """POST /servers with a preset."""
        return self.create(overrides, server={
            errors.PRESET: name, **(server or {})}, **kwargs)

    def booted(self, name, overrides=None, **kwargs):
        """Return the ID of a server with a preset, once it is ACTIVE."""
        return self.boot(overrides, server={errors.PRESET: name}, **kwargs)

    def used(self, server, **kwargs):
        """Return the preset that is shown, and the overrides."""
        shown = self.show(server, **kwargs)
        preset = shown[errors.PRESET]
        return preset and preset['name'], shown[base.PARAMETER]

    def digest(self, server):
        return self.show(server)[errors.PRESET]['digest']
