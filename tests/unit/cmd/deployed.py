"""What a deployment has, and what is asked about it."""

from nova import objects

from nova_image_override import metadata_keys
from nova_image_override import policies
from nova_image_override.server_record import ServerRecord

FILES = {
    'nova.conf': '''\
[image_override]
allowed_properties = hw_boot_menu, hw_disk_bus=virtio|scsi,
    hw_video_model, os_type,
    hw_pmu, hw_numa_*
denied_properties = hw_numa_mem.1, os_type=windows
glance_image_import_files = {folder}/import.conf
property_protection_file = {folder}/protections.conf
[oslo_policy]
policy_file = {folder}/policy.yaml
''',
    'policy.yaml':
        f'"{policies.PROPERTY_RULE.format("hw_pmu")}": "role:admin"\n',
    'import.conf': '''\
[image_import_opts]
image_import_plugins = [inject_image_metadata]
[inject_metadata_properties]
inject = hw_video_model:qxl
''',
    'protections.conf': '''\
[^hw_disk_bus$]
create = member
read = @
update = admin
delete = admin

[.*]
create = @
read = @
update = @
delete = @
''',
}


def explained(run, *arguments):
    """Return the exit status, the verdict of all rules, and each rule's row."""
    status, rows = run.rows('explain', *arguments)
    found = {row['Rule']: (row['Verdict'], row['Reason']) for row in rows}
    names = list(found)
    assert names[:4] == [
        'never', 'denied_properties', 'allowed_properties', 'injection']
    assert names[names.index('policy'):] == ['policy', 'all']
    return status, found['all'][0], found


def server(name, project='p1', own=(), **overrides):
    own = dict(own)
    return objects.Instance(
        uuid=name, project_id=project, user_id='u1',
        system_metadata=ServerRecord.read({}).with_properties({
            **{key: value for key, value in overrides.items()
               if value is not None},
            # Not all of them are properties of this Nova.
            **{(metadata_keys.SET_PREFIX if value is not None
                else metadata_keys.REMOVED_PREFIX) + key: own.get(key, '')
               for key, value in overrides.items()}}))
