"""Glance as deployers restrict it: injection, protections, uploads."""

from testing.deployment import settings
from testing.deployment import state as state_module
from testing.deployment import web

#: What every image that a tenant imports gets.
INJECTED = {'hw_sound_model': 'ac97', 'x_origin': 'imported'}

#: The roles of the operator, and of those trusted to choose what is injected.
TRUSTED = 'admin,nfv'

# Injection writes as the user who imports, so everybody may create what is
# injected; nobody but the trusted may change it, or write what only the
# operator may.
_PROTECTIONS = f'''
[^(hw_sound_model|x_origin)$]
create = @
read = @
update = {TRUSTED}
delete = {TRUSTED}

[^hw_watchdog_action$]
create = admin
read = @
update = admin
delete = admin

[.*]
create = @
read = @
update = @
delete = @
'''

# Nothing is injected into what is uploaded directly, so only the operator may
# do that, and Nova for its snapshots.
_POLICY = '''
"upload_image": "role:admin or service_roles:service"
'''


class Glance(web.Application):
    """The image service."""

    NAME = 'glance'
    MODULE = 'glance.wsgi.api'
    CONFIG = 'glance-api.conf'
    SYNC = ('glance-manage', 'db', 'sync')

    def __init__(self, state: state_module.State) -> None:
        super().__init__(state)
        #: What else is in glance-api.conf; written at each start.
        self.more: settings.Settings = {}

    def configure(self) -> None:
        """Write glance-api.conf and the files that it names."""
        folder, data = self.folder, self.state.subfolder
        (folder / 'property-protections.conf').write_text(_PROTECTIONS)
        (folder / 'policy.yaml').write_text(_POLICY)
        settings.write(folder / 'glance-image-import.conf', {
            'image_import_opts': {
                'image_import_plugins': '[inject_image_metadata]'},
            'inject_metadata_properties': {
                'ignore_user_roles': TRUSTED,
                'inject': ','.join(map(':'.join, INJECTED.items()))}})
        stores = {
            store: {'filesystem_store_datadir': str(
                data('glance-data', store))}
            for store in ('main', 'os_glance_staging_store',
                          'os_glance_tasks_store')}
        settings.write(
            self.config,
            settings.common(self.state, 'glance'), stores,
            {'DEFAULT': {
                'enabled_backends': 'main:file',
                'enabled_import_methods': '[glance-direct]',
                'property_protection_file': str(
                    folder / 'property-protections.conf'),
                'worker_self_reference_url': state_module.url('glance')},
             'glance_store': {'default_backend': 'main'},
             'database': {
                 'connection': settings.database(self.state, 'glance')},
             'oslo_policy': {'policy_file': str(folder / 'policy.yaml')},
             'paste_deploy': {
                 'flavor': 'keystone',
                 'config_file': str(self.installation.etc / 'glance'
                                    / 'glance-api-paste.ini')}},
            self.more)
