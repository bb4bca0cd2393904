"""Clouds whose Glance protects image properties."""

import pathlib

import fixtures

from testing.harness import base

PROTECTIONS = '''
[^hw_disk_bus$]
create = member
read = @
update = admin
delete = !

[^hw_video_model$]
create = admin
read = @
update = member
delete = member

[^(hw_vm_mode|vm_mode)$]
create = @
read = @
update = admin
delete = admin

[^hw_architecture$]
create = @
read = @
update = @
delete = @

[^architecture$]
create = admin
read = @
update = admin
delete = admin

[^(hw_numa_mem\\.1|trait:HW_CPU_X86_AVX)$]
create = admin
read = @
update = admin
delete = admin

[^(hw_boot_menu|hw_numa_.*|trait:.*)$]
create = @
read = @
update = @
delete = @

[^(hw_rng_model|hw_auto_disk_config)$]
create = @
read = @
update = @
delete = @

[^os_distro$]
create = Service
read = @
update = Service
delete = Service
'''


def file_with(cloud: base.Cloud, text: str) -> str:
    """Write a file that lasts as long as CLOUD, and return its path."""
    path = pathlib.Path(cloud.useFixture(fixtures.TempDir()).path, 'file')
    path.write_text(text)
    return str(path)


class Cloud(base.Cloud):
    """Protections by roles; requests come from a project member."""

    def _setup_services(self) -> None:
        self.OPTIONS = {
            'allowed_properties': ['*'],
            'property_protection_file': file_with(self, PROTECTIONS)}
        super()._setup_services()
