"""``nova-image-override check``: mistakes in a deployment's rules.

``rules.py`` and ``spelling.py`` have a table each: a row for each kind of
finding.
"""
