"""setup.cfg declares what is imported, and constraints/ pins what it declares.
"""

import ast
import importlib.metadata
import pathlib
import re
import sys

import pytest

from tests.unit.checkout import setup

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = ROOT / 'nova_image_override'
PLUGIN = ROOT / 'nova_image_override_tempest_plugin'
DASHBOARD = ROOT / 'nova_image_override_dashboard'

#: The extra that brings what the modules of a folder import. For each module,
#: the innermost folder named here counts.
FOLDERS = {
    PACKAGE: 'nova',
    PACKAGE / 'client': 'clients',
    PACKAGE / 'client' / 'heat': 'heat',
    PLUGIN: 'tempest',
    DASHBOARD: 'dashboard',
}

#: The distributions that are not named after what they hold.
CALLED = {
    'heat': 'openstack-heat',
    'novaclient': 'python-novaclient',
    'openstack': 'openstacksdk',
    'openstack_auth': 'horizon',
    'openstack_dashboard': 'horizon',
    'paste': 'pastedeploy',
    'yaml': 'pyyaml',
}


def normalised(name):
    return re.sub('[-_.]+', '-', name).lower()


def names(requirements):
    """Return the distributions that lines of requirements name."""
    return {normalised(re.match('[A-Za-z0-9._-]+', line)[0])
            for line in requirements
            if line.strip() and not line.startswith('#')}


def always():
    return names(setup()['options']['install_requires'].splitlines())


def brought(extra):
    return names(setup()['options.extras_require'][extra].splitlines())


def imported(path):
    """Yield the full name of whatever a module imports, at any depth."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, path
            yield from (f'{node.module}.{alias.name}' for alias in node.names)


def own(name):
    """Return the file of our module NAME, or of the one that NAME is in."""
    parts = name.split('.')
    while parts:
        path = ROOT.joinpath(*parts)
        for file in (path.with_suffix('.py'), path / '__init__.py'):
            if file.exists():
                return file
        parts.pop()
    raise AssertionError(f'no module of ours: {name}')


def distributions(paths):
    """Return the distributions that modules, and our modules they use, import.
    """
    seen, waiting, found = set(), list(paths), set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in imported(path):
            top = name.partition('.')[0]
            if top in (PACKAGE.name, PLUGIN.name, DASHBOARD.name):
                waiting.append(own(name))
            elif top not in sys.stdlib_module_names:
                found.add(CALLED.get(top, normalised(top)))
    return found


needs_names = pytest.mark.skipif(
    sys.version_info < (3, 10), reason='no names of standard modules')


def modules(extra):
    return [
        path for folder in (PACKAGE, PLUGIN, DASHBOARD)
        for path in folder.rglob('*.py')
        if FOLDERS[next(parent for parent in path.parents
                        if parent in FOLDERS)] == extra]


@needs_names
@pytest.mark.parametrize('extra', FOLDERS.values())
def test_every_distribution_that_is_imported_is_declared(extra):
    assert modules(extra)
    assert distributions(modules(extra)) <= always() | brought(extra)


@needs_names
def test_beside_nova_nothing_is_installed_that_nova_does_not_require():
    of_nova = names(text for text in importlib.metadata.requires('nova')
                    if 'extra ==' not in text)
    assert brought('nova') <= of_nova | {'nova'}
    assert distributions(modules('nova')) <= of_nova | {'nova'} | always()


@pytest.mark.parametrize(('pins', 'name', 'extras'), re.findall(
    r'(?:PINS=constraints/(\S+)\.txt .*\\\n\s+)?'
    r'tools/environment\.sh (\S+) (\S+)', (ROOT / 'Makefile').read_text()))
def test_every_environment_pins_what_its_extras_declare(pins, name, extras):
    files = list((ROOT / 'constraints').glob(
        (pins or name).replace('$*', '*') + '.txt'))
    assert files
    for file in files:
        pinned = names(file.read_text().splitlines())
        for extra in extras.split(','):
            assert brought(extra) <= pinned, (file.name, extra)
        assert always() <= pinned, file.name


def test_only_a_python_that_tests_run_on_is_said_to_be_supported():
    classifiers = re.findall(
        r'Python :: (3\.\d+)', setup()['metadata']['classifiers'])
    assert 'python_requires' not in setup()['metadata']
    assert setup()['options']['python_requires'] == f'>={classifiers[0]}'
    # The one that constraints/ is made for, and those of Nova's users.
    assert {*classifiers} == {*re.findall(
        r'(?:^PYTHON_\w+ := |^NEWEST := --python-version )(\S+)',
        (ROOT / 'Makefile').read_text(), re.MULTILINE)}


def test_the_readme_names_the_python_that_each_release_is_tested_on():
    makefile = (ROOT / 'Makefile').read_text()
    tested = {release: {python} for release, python in re.findall(
        r'^PYTHON_(\d+) := (\S+)$', makefile, re.M)}
    tested[re.findall(r'^NOVA_(\d+) := ', makefile, re.M)[-1]] = {*re.findall(
        r'^(?:PYTHON_sid := |NEWEST := --python-version )(\S+)$', makefile,
        re.M)}
    told = {release: {*pythons.split(', ')} for release, pythons in re.findall(
        r'^\| (\d+) \| [^|]+ \| ([^|]+) \|', (ROOT / 'README.md').read_text(),
        re.M)}
    assert told == tested
