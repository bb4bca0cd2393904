"""What whoever publishes the package fills in, and what is still empty."""

import importlib.metadata
import pathlib
import re

import pytest

from tests.unit.checkout import setup

ROOT = pathlib.Path(__file__).parents[2]
NAMES = ('Source', 'Issues', 'Security')


def urls():
    return dict(map(str.strip, line.split('=', 1)) for line in setup()[
        'metadata']['project_urls'].splitlines() if line.strip())


def test_the_readme_names_what_is_still_empty():
    empty = [name for name in NAMES if not urls().get(name)]
    line = ('Not published yet: `project_urls` in `setup.cfg` has no '
            f'{", ".join(empty)}.')
    readme = ' '.join((ROOT / 'README.md').read_text().split())
    assert (line in readme) == bool(empty), line
    assert readme.count('Not published yet') == bool(empty)


@pytest.mark.parametrize('name', NAMES)
def test_what_is_filled_in_is_an_address(name):
    assert re.fullmatch(
        r'(https://|mailto:)\S+', urls().get(name) or 'mailto:nobody')


def test_only_these_are_asked_for():
    assert urls().keys() <= set(NAMES)


def test_pages_name_no_other_place_for_any_of_them():
    """A page that wrote an address itself would be wrong after a move."""
    given = set(urls().values())
    for page in [*ROOT.glob('*.md'), *ROOT.glob('*.rst'),
                 *(ROOT / 'docs' / 'source').rglob('*.rst')]:
        text = page.read_text()
        assert not re.search(r'mailto:|/security/advisories|/issues\b',
                             text), page
        assert not any(each in text for each in given), page


def test_the_package_says_what_setup_cfg_says():
    said = importlib.metadata.metadata(
        'nova-image-override').get_all('Project-URL') or []
    assert dict(each.split(', ', 1) for each in said) == urls()
