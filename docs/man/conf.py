"""Configuration of Sphinx for the manual pages.

Apart from the documentation, so that they are made in seconds and by cliff's
own extension. tools/share.py runs it.
"""

import importlib.metadata

project = 'nova-image-override'
author = ''
version = release = importlib.metadata.version('nova-image-override')
# No date: the same source makes the same page on every day.
today = ' '

extensions = ['cliff.sphinxext']
# Each page is one command, none leads to another.
suppress_warnings = ['toc.not_included']

_PAGES = {
    'nova-compute-image-override':
        'nova-compute that keeps image property overrides',
    'nova-image-override':
        'list, explain and check image property overrides',
    'nova-image-override-status':
        'check image property overrides before an upgrade',
}
root_doc = 'nova-image-override'
man_pages = [(name, name, what, author, 1) for name, what in _PAGES.items()]
