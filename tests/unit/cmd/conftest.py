"""A deployment's files, and the command line run on them."""

import json
import logging
import textwrap

from nova import policy as nova_policy
import nova.conf
import pytest

from nova_image_override.cmd import shell
from testing import paste_config
from tests.unit.cmd import deployed
from tests.unit.cmd import nova_databases


class Deployment:
    """Files of one deployment; :meth:`run` runs a command on them."""

    def __init__(self, folder, capsys):
        self.folder = folder
        self._capsys = capsys

    def write(self, name, text):
        """Write a file, in which {folder} is that of all; return its path."""
        path = self.folder / name
        path.write_text(textwrap.dedent(text).replace(
            '{folder}', str(self.folder)), errors='surrogateescape')
        return str(path)

    def run(self, *arguments):
        """Run a command; return exit status, standard output and errors."""
        nova.conf.CONF.reset()
        handlers = list(logging.root.handlers)
        # Another test's handlers, which may write to a closed stream.
        logging.root.handlers.clear()
        try:
            status = shell.main([
                *arguments, '--config-file', str(self.folder / 'nova.conf')])
        except SystemExit as exc:  # From argparse.
            status = exc.code
        finally:
            # Drop cliff's own, which would write to this test's output forever.
            logging.root.handlers[:] = handlers
        captured = self._capsys.readouterr()
        return status, captured.out, captured.err

    def rows(self, *arguments):
        """Run a command that prints a table; return status and rows."""
        status, out, err = self.run(*arguments, '-f', 'json')
        assert out, err
        return status, json.loads(out)


@pytest.fixture
def deployment(tmp_path, capsys):
    nova_policy.reset()
    paste_config.write(tmp_path, paste_config.APP)
    yield Deployment(tmp_path, capsys)
    nova_policy.reset()
    nova.conf.CONF.reset()


@pytest.fixture
def run(deployment):
    for name, text in deployed.FILES.items():
        deployment.write(name, text)
    return deployment


@pytest.fixture(scope='package')
def databases(tmp_path_factory):
    """Return the nova.conf that names Nova's databases."""
    return nova_databases.make(tmp_path_factory.mktemp('databases'))
