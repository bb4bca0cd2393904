"""What Tempest asks a plugin for: its options, its clients and its tests."""

import pathlib
import typing

from oslo_config import cfg
from tempest import config
from tempest.test_discover import plugins

from nova_image_override_tempest_plugin import config as options


class ImagePropsOverridePlugin(plugins.TempestPlugin):
    """The entry point."""

    def load_tests(self) -> tuple[str, str]:
        """Return where the tests are, and where their module names begin."""
        package = pathlib.Path(__file__).parent
        return str(package / 'tests'), str(package.parent)

    def register_opts(self, conf: cfg.ConfigOpts) -> None:
        """Register the options with Tempest's."""
        config.register_opt_group(conf, options.GROUP, options.OPTIONS)
        conf.register_opt(options.AVAILABLE, group='service_available')

    def get_opt_lists(self) -> list[tuple[str, list[cfg.Opt]]]:
        """Return the options, for sample files."""
        return options.list_opts()

    def get_service_clients(self) -> list[dict[str, typing.Any]]:
        """Return the clients, which talk to the compute service."""
        return [{
            'name': options.GROUP.name, 'service_version': options.GROUP.name,
            'module_path': 'nova_image_override_tempest_plugin.services',
            'client_names': ['DiscoveryClient', 'ServersClient'],
            **config.service_client_config('compute')}]
