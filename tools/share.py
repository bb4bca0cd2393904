"""Write what the package ships for the system's own tools, under share/.

usage: tools/share.py [--write]

Manual pages and sample configuration: made from the commands and options
themselves, and kept in the repository, so that to install the package needs
neither Nova nor Sphinx. tests/unit/test_share.py compares. The examples in
share/nova-image-override that are not named here are written by hand.
"""

import argparse
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile

from oslo_config import cfg
from oslo_config import generator as config_generator
from oslo_policy import generator

ROOT = pathlib.Path(__file__).parents[1]
SHARE = ROOT / 'share'
NAME = 'nova-image-override'


def made() -> dict[str, str]:
    """Return everything that is generated, by its path under share/."""
    return {
        f'{NAME}/image_override.conf': sample_config(),
        f'{NAME}/policy.yaml': sample_policy(),
        **{f'man/man1/{name}': text for name, text in manual_pages().items()},
    }


def sample_config() -> str:
    """Return what ``oslo-config-generator`` prints of our group."""
    conf = cfg.ConfigOpts()
    config_generator.register_cli_opts(conf)
    conf(['--namespace', 'nova_image_override', '--wrap-width', '90'],
         project=NAME, use_env=False, default_config_files=[],
         default_config_dirs=[])
    printed = io.StringIO()
    config_generator.generate(conf, output_file=printed)
    # It writes a heading for [DEFAULT], where we have nothing.
    text = printed.getvalue()
    return text[text.index('[image_override]'):]


def sample_policy() -> str:
    """Return what ``oslopolicy-sample-generator`` prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        generator.generate_sample(
            ['--namespace', 'nova_image_override'], cfg.ConfigOpts())
    return printed.getvalue()


def manual_pages() -> dict[str, str]:
    """Return what Sphinx makes of docs/man, by the files' names."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(  # noqa: S603
            [sys.executable, '-W', 'ignore', '-m', 'sphinx', '-q', '-W',
             '-b', 'man', '-d', f'{folder}/doctrees', ROOT / 'docs' / 'man',
             f'{folder}/man'],
            check=True, env={**os.environ, 'COLUMNS': '80'})
        return {path.name: path.read_text()
                for path in pathlib.Path(folder, 'man').glob('*.1')}


def main() -> int:
    """Write what has changed, or report it.

    :returns: 1 when something differs and was not to be written
    """
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--write', action='store_true',
                        help='write what differs; without it, list it')
    write = parser.parse_args().write
    differs = 0
    for name, text in made().items():
        path = SHARE / name
        if path.exists() and path.read_text() == text:
            continue
        differs += 1
        print(name)
        if write:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return int(bool(differs) and not write)


if __name__ == '__main__':
    sys.exit(main())
