"""What the package ships for deployers to begin with."""

import pathlib

PRESETS = pathlib.Path(__file__).parents[1].joinpath(
    'share', 'nova-image-override', 'presets.yaml')

UWSGI = PRESETS.with_name('nova-api-uwsgi.ini')
