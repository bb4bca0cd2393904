"""The exchanges in docs/source/samples."""

import os
import pathlib

SAMPLES = pathlib.Path(__file__).parents[2] / 'docs' / 'source' / 'samples'


def compare(name, text):
    """Compare TEXT with the sample NAME, or write it."""
    path = SAMPLES / name
    if os.environ.get('WRITE_SAMPLES'):
        path.write_text(text + '\n')
    assert text + '\n' == path.read_text()
