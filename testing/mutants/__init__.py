"""``make mutants``: whether a test notices each small change of what decides.

A library would do this if one could: mutmut and cosmic-ray begin a test run, or
at least the package's imports, anew for each mutant, and Nova and its test
harness take eight seconds to import. Here one process imports Nova and the
libraries once, and forks for each mutant; only the package and the tests are
imported in the child, with the mutant in place of one module.
"""

#: What decides: the first are the most dangerous.
DECIDES = (
    'compute/*.py', 'override.py', 'server_record.py', 'metadata_keys.py',
    'authorization/*.py', 'authorization/glance/*.py', 'api/change/*.py',
    'api/guest/*.py', 'properties/*.py')
