"""The recorded figures of long runs are those that the pages show."""

import json
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
SOURCE = ROOT / 'docs' / 'source'
FIGURES = sorted(SOURCE.glob('*/figures/*'))
PAGES = ''.join(path.read_text() for path in SOURCE.rglob('*.rst'))
MAKEFILE = (ROOT / 'Makefile').read_text()


def value(name):
    """Return the words that the Makefile assigns to a name."""
    (text,) = re.findall(rf'^{name} := (.*)$', MAKEFILE, re.M)
    return [word for part in text.split() for word in (
        value(part[2:-1]) if part.startswith('$(') else [part])]


@pytest.mark.parametrize('path', FIGURES, ids=lambda path: path.name)
def test_what_is_recorded_is_shown(path):
    if path.suffix == '.json':
        item = path.stem.rstrip('-0123456789')
        assert f'.. proof-figures:: {item}\n' in PAGES
    else:
        assert re.search(rf':: figures/{re.escape(path.name)}$', PAGES, re.M)


@pytest.mark.parametrize('item', value('PROOFS'))
def test_a_proof_is_recorded_for_every_release_that_make_runs_it_on(item):
    assert {path.stem for path in FIGURES if path.stem.startswith(item)} == {
        f'{item}-{release}' for release in value('RELEASES')}


@pytest.mark.parametrize('item', ['ways-in', 'fuzz', 'mutation'])
def test_a_proof_that_make_runs_on_one_release_is_recorded_for_that_one(item):
    (newest,) = set(value('RELEASES')) - set(value('OLDER'))
    assert {path.stem.rpartition('-')[2] for path in FIGURES
            if path.stem.startswith(item)} == {newest}


@pytest.mark.parametrize(
    'path', SOURCE.glob('contributor/figures/nfv-*.json'),
    ids=lambda path: path.name)
def test_every_topic_of_nfv_that_is_recorded_has_its_table(path):
    shown = re.findall(r'^\.\. nfv-table:: (.+)$', PAGES, re.M)
    assert shown
    assert set(shown) == {
        ask['topic'] for ask in json.loads(path.read_text())['asks']}
