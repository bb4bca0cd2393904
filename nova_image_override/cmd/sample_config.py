"""``nova-image-override sample-config``: our group, as nova.conf takes it."""

import argparse
import io

from cliff import command
from oslo_config import cfg
from oslo_config import generator


class SampleConfig(command.Command):
    """Print the group [image_override] with every option explained."""

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print what oslo-config-generator makes of our options."""
        conf = cfg.ConfigOpts()
        generator.register_cli_opts(conf)
        conf(['--namespace', 'nova_image_override', '--wrap-width', '90'],
             project='nova-image-override', use_env=False,
             default_config_files=[], default_config_dirs=[])
        output = io.StringIO()
        generator.generate(conf, output_file=output)
        # The generator writes a heading for [DEFAULT], where we have nothing.
        text = output.getvalue()
        self.app.stdout.write(text[text.index('[image_override]'):])
        return 0
