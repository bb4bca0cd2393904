"""The documentation that is written by hand keeps up with the code.

What it takes from the code (docs/source/_ext) needs no test.
"""

import ast
import json
import pathlib
import re
import subprocess
from xml.etree import ElementTree

import pytest

from nova_image_override import conf
from nova_image_override import errors
from nova_image_override import metadata_keys
from nova_image_override import versions
from nova_image_override.nova_interfaces import api
from nova_image_override.nova_interfaces import common
from nova_image_override.nova_interfaces import compute
from nova_image_override.nova_interfaces import interface
from testing.cases import values
from tests.unit import test_sdist
from tests.unit.checkout import scripts
from tests.unit.checkout import setup

ROOT = pathlib.Path(__file__).parents[2]
SOURCE = ROOT / 'docs' / 'source'
PAGES = sorted(SOURCE.rglob('*.rst'))
SAMPLES = SOURCE / 'samples'
SVG = '{http://www.w3.org/2000/svg}'


def page(name):
    return (SOURCE / name).read_text()


def codes():
    return {value for name, value in vars(errors).items()
            if name.isupper() and name.lower() == value}


def test_only_one_text_says_how_to_install_what_is_on_no_index():
    wheel = SOURCE / 'install' / 'wheel.txt'
    assert 'pip install dist/nova_image_override-*.whl' in wheel.read_text()
    texts = [*PAGES, ROOT / 'README.md', *ROOT.glob('deploy/**/*.*')]
    named = re.compile(r'pip install\b.*\bnova-image-override\b')
    assert [each for each in texts if named.search(each.read_text())] == []


def test_contributors_are_told_what_each_folder_is_for():
    told = re.search('^The folders\n=+\n(.*?)^Run one', (
        ROOT / 'CONTRIBUTING.rst').read_text(), re.M | re.S)[1]
    assert {f'{name.partition("/")[0]}/' for name in test_sdist.tracked()
            if '/' in name and not name.startswith('.')} == set(
                re.findall('``([^` ]*/)``', told))


def test_make_help_lists_what_ci_runs():
    told = subprocess.run(
        ['make', 'help'], cwd=ROOT, capture_output=True, text=True,
        check=True).stdout.rpartition('What CI runs')[2].split()
    steps = re.sub(r'\\\n *', '', (ROOT / '.ci' / 'run').read_text())
    for step in re.findall('^ *step (.*)', steps, re.M):
        assert [word for word in step.partition(' ARGS')[0].split()
                if word not in told and not word.startswith('--')] == []


def test_every_code_has_advice_and_no_other_code_has():
    advised = set(re.findall(
        r'^   \* - ``(\w+)``$', page('user/refusals.rst'), re.M))
    assert advised == codes()


def test_every_code_is_advised_under_a_status_of_refusals():
    statuses = re.findall(r'^   \* - ``\w+``\n     - (\d+)$',
                          page('user/refusals.rst'), re.M)
    assert len(statuses) == len(codes())
    assert set(statuses) == {
        str(kind.status) for kind in (
            errors.Invalid, errors.Forbidden, errors.Conflict)}


def test_operators_are_told_what_to_do_about_each_code_of_theirs():
    told = re.findall('``(\\w+)``', '\n'.join(re.findall(
        r'^   \* - (``.*)$', page('admin/user-was-refused.rst'), re.M)))
    theirs = re.findall(r'^   \* - ``(\w+)``\n     - 4(?:03|09)$',
                        page('user/refusals.rst'), re.M)
    assert set(theirs) <= set(told) & codes()
    assert len(told) == len(set(told))


@pytest.mark.parametrize('name', [option.name for option in conf.OPTS])
@pytest.mark.parametrize('where', [
    ROOT / 'README.md', SOURCE / 'install/nova-api.rst',
    SOURCE / 'admin/rules.rst'], ids=lambda path: path.name)
def test_every_option_is_explained(name, where):
    assert name in where.read_text()


@pytest.mark.parametrize('name', [
    f'{metadata_keys.SET_PREFIX}<property>',
    f'{metadata_keys.REMOVED_PREFIX}<property>',
    f'{metadata_keys.PRESET_PREFIX}<name>', metadata_keys.UNFINISHED,
    f'{metadata_keys.UNFINISHED}:<field>', metadata_keys.OFFLOADED])
def test_every_row_that_is_stored_is_explained(name):
    assert f'``{metadata_keys.IMAGE_PREFIX}{name}``' in page(
        'admin/storage.rst')


def test_every_command_that_is_installed_is_named():
    text = ''.join(path.read_text() for path in PAGES)
    assert scripts()
    for script in scripts():
        assert f'``{script}' in text


def test_the_table_of_installed_files_has_all_of_them():
    named = re.findall(
        r'^   \* - ``([\w./-]+)``', page('install/files.rst'), re.M)
    installed = ' '.join(setup()['options.data_files'].values()).split()
    assert {*named} == {
        path.removeprefix('share/') for path in installed
        if not path.startswith('share/man/')}


def test_contributors_are_sent_to_files_and_targets_that_exist():
    text = (ROOT / 'CONTRIBUTING.rst').read_text()
    paths = set(re.findall(
        r'\b(?:docs|nova_image_override|tests)/[\w/.]*\w', text))
    assert paths
    for path in paths:
        assert (ROOT / path).exists(), path
    makefile = (ROOT / 'Makefile').read_text()
    targets = set(re.findall(r'(?:\$ |``)make\s([\w-]+)', text))
    assert targets
    for target in targets:
        pattern = re.sub('-(NN|34)$', '-%', target)
        assert re.search(rf'^{pattern}:', makefile, re.M), target


DRAWINGS = sorted(SOURCE.glob('drawings/*.svg'))


def test_every_drawing_is_shown_and_every_shown_drawing_exists():
    shown = {name for path in PAGES for name in re.findall(
        r'^   \.\. raw:: html\n      :file: (\S+)$', path.read_text(), re.M)}
    assert shown == {path.relative_to(SOURCE).as_posix() for path in DRAWINGS}


@pytest.mark.parametrize('path', DRAWINGS, ids=lambda path: path.stem)
def test_a_drawing_says_in_words_what_it_shows(path):
    root = ElementTree.parse(path).getroot()
    title, text, *_ = root
    assert (title.tag, text.tag) == (f'{SVG}title', f'{SVG}desc')
    assert root.get('role') == 'img'
    assert root.get('aria-labelledby').split() == [
        title.get('id'), text.get('id')]
    assert title.text.strip() and text.text.strip()


@pytest.mark.parametrize('path', DRAWINGS, ids=lambda path: path.stem)
def test_a_drawing_fetches_nothing(path):
    text = path.read_text().replace(f'xmlns="{SVG[1:-1]}"', '', 1)
    assert not re.search(r'//|href|<style|<script|<image|url\((?!#)', text)


def luminance(colour):
    """Return the relative luminance that WCAG 2 defines."""
    return sum(share * (c / 12.92 if c <= 0.04045
                        else ((c + 0.055) / 1.055) ** 2.4)
               for share, c in zip((0.2126, 0.7152, 0.0722), (
                   byte / 255 for byte in bytes.fromhex(colour[1:]))))


@pytest.mark.parametrize('background', ['#ffffff', '#131416'])
@pytest.mark.parametrize('path', DRAWINGS, ids=lambda path: path.stem)
def test_a_drawing_can_be_read_on_light_and_dark_pages(path, background):
    colours = set(re.findall(r'(?:fill|stroke)="([^"]*)"', path.read_text()))
    for colour in colours - {'none', 'currentColor'}:
        dark, light = sorted(map(luminance, (colour, background)))
        assert (light + 0.05) / (dark + 0.05) >= 4, colour


def test_every_list_of_names_of_nova_is_shown():
    shown = {each for name in re.findall(
        r'seam-table:: (\S+)', page('contributor/seams.rst'))
        for each in interface.resolve(name)}
    assert shown == {
        each for module in (common, api, compute)
        for listed in vars(module).values() if isinstance(listed, tuple)
        for each in listed}


def names_in(module):
    trees = [ast.parse(path.read_text())
             for path in (ROOT / 'tests').rglob(f'{module}.py')]
    return {
        '.'.join([module, *owner, method.name])
        for tree in trees for owner, body in [([], tree.body), *(
            ([node.name], node.body) for node in tree.body
            if isinstance(node, ast.ClassDef))]
        for method in body if isinstance(method, ast.FunctionDef)}


def named_tests():
    for path in PAGES:
        for name in re.findall(':test:`([^`]*)`', path.read_text()):
            yield path.name, name


@pytest.mark.parametrize(('where', 'name'), named_tests())
def test_every_test_that_a_page_names_exists(where, name):
    assert name in names_in(name.partition('.')[0])


def test_every_fault_of_nova_names_its_test_or_was_read():
    shown = re.findall('^:Test: (.*)$', page('contributor/upstream.rst'), re.M)
    assert shown
    assert [each for each in shown
            if each != 'read' and not each.startswith(':test:`')] == []


def test_every_operation_of_the_map_names_its_test():
    rows = page('admin/life.rst').split('\n   * - ')[2:]
    assert len(rows) > 20
    for row in rows:
        assert len(re.findall('^     - ', row, re.M)) == 3, row
        assert ':test:`' in row, row


def test_no_operation_of_the_map_loses_overrides():
    table = page('admin/life.rst').partition('Nova reads no image')[0]
    assert not re.search(r'\blost\b', table)


def test_every_test_of_the_map_is_in_the_map():
    named = {name for _, name in named_tests()}
    for module in ('test_life', 'test_life_devices'):
        tests = {test for test in names_in(module) if '.Test' in test}
        assert tests
        assert tests <= named


def test_every_sample_is_shown_and_every_shown_sample_exists():
    text = ''.join(path.read_text() for path in PAGES)
    shown = {f'{name}-answer.http' for name in re.findall(
        r'^ *\.\. exchange:: (\S+)$', text, re.M)}
    shown |= set(re.findall(r'/samples/(\S+)$', text, re.M))
    there = {path.name for path in SAMPLES.iterdir()
             if not path.name.endswith('-request.http')}
    assert shown == there


def test_the_readme_shows_what_is_a_sample_or_part_of_one():
    samples = []
    for path in SAMPLES.glob('*.http'):
        _, _, body = path.read_text().partition('\n\n')
        if body.strip():
            samples.append(json.loads(body))
    blocks = re.findall('```json\n(.*?)```', (ROOT / 'README.md').read_text(),
                        re.S)
    assert blocks
    for block in blocks:
        assert json.loads(block) in samples


def test_the_readme_says_beside_what_the_wheel_has_passed():
    """Each line is a run, which comes first (testing/platforms.py)."""
    runs = map(json.loads, (
        SOURCE / 'contributor/figures/platforms.jsonl'
    ).read_text().splitlines())
    rows = re.findall(
        r'^\| (\d+) \|[^|]*\| ([\d., ]+) \|',
        (ROOT / 'README.md').read_text(), re.MULTILINE)
    assert {(nova, python) for nova, pythons in rows
            for python in pythons.split(', ')} == {
        (run['nova'].partition('.')[0], run['python'].rpartition('.')[0])
        for run in runs}


def test_what_was_seen_together_was_seen_with_the_book_as_it_is():
    """Where it was not, make cloud-pairs is to be run again."""
    runs = {path.name: json.loads(path.read_text()) for path in (
        SOURCE / 'contributor/figures').glob('*-debian*.json')}
    assert runs
    assert [name for name, run in runs.items()
            if run['book'] != values.book_digest()] == []


def test_the_readme_shows_the_newest_version():
    text = (ROOT / 'README.md').read_text()
    assert f'{versions.SERVICE_TYPE} {versions.MAX}' in text
