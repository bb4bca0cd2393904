"""Configuration of Sphinx."""

import importlib.metadata
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / '_ext'))

project = 'nova-image-override'
copyright = 'the nova-image-override authors'
version = release = importlib.metadata.version('nova-image-override')

extensions = [
    'generated',
    'openstackdocstheme',
    'oslo_config.sphinxext',
    'oslo_policy.sphinxext',
    'reno.sphinxext',
]

html_theme = 'openstackdocs'
openstackdocs_auto_name = False
openstackdocs_auto_version = False
html_theme_options = {'display_badge': False}

html_static_path = ['_static']
html_css_files = ['pages.css']

nitpicky = True
