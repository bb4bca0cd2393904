"""The command that starts the compute part, as it is started: by itself."""

import subprocess
import sys

from nova import version as nova_version


def test_it_starts_as_the_first_that_imports_nova():
    # nova.cmd.compute chooses native threads or eventlet, and gives up if
    # anything of Nova was imported before. No test that imports Nova itself
    # could tell.
    run = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c',
         'import sys; sys.argv[1:] = ["--version"];'
         'from nova_image_override.cmd.nova_compute import main; main()'],
        capture_output=True, text=True, check=False)
    assert run.stdout.strip() == nova_version.version_string(), run.stderr
