"""Configuration of Sphinx."""

import importlib.metadata
import pathlib
import sys

# What makes pages, and what knows how old a record is (testing/night.py).
sys.path[:0] = [str(pathlib.Path(__file__).parent / '_ext'),
                str(pathlib.Path(__file__).parents[2])]

project = 'nova-image-override'
copyright = 'the nova-image-override authors'
version = release = importlib.metadata.version('nova-image-override')

extensions = [
    'generated',
    'property_pages',
    'oslo_config.sphinxext',
    'oslo_policy.sphinxext',
    'sphinx_design',
]

# What setup.cfg gives as project_urls, wherever a page says |Issues|.
_urls = dict(each.split(', ', 1) for each in importlib.metadata.metadata(
    project).get_all('Project-URL') or ())
rst_epilog = '\n'.join(
    f'.. |{name}| replace:: {_urls.get(name) or "(not published yet)"}'
    for name in ('Source', 'Issues', 'Security'))

html_theme = 'furo'
html_title = f'{project} {release}'
# Furo's own underlines paths in requests, as if they were links.
pygments_dark_style = 'github-dark'

html_static_path = ['_static']
html_css_files = ['pages.css']

nitpicky = True
# A page of a hundred properties needs no list of them beside it.
toc_object_entries = False
