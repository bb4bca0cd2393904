"""``paste`` changes one line of Nova's api-paste.ini, and nothing else."""

import difflib
import pathlib
import pkgutil

import pytest

from nova_image_override import errors
from nova_image_override.cmd import paste
from nova_image_override.cmd import shell


def test_the_installed_novas_file_differs_in_one_line(capsys):
    assert shell.main(['paste']) == 0
    own = pathlib.Path(paste.shipped()).read_text().splitlines()
    changed = [line for line in difflib.unified_diff(
        own, capsys.readouterr().out.splitlines(), lineterm='', n=0)
        if line[:1] in '+-' and line[:3] not in ('+++', '---')]
    assert changed == [f'-paste.app_factory = {paste.NOVA}',
                       f'+paste.app_factory = {paste.OURS}']


def test_what_it_names_is_the_application():
    assert callable(pkgutil.resolve_name(paste.OURS))


def test_a_file_that_names_the_extension_stays_as_it_is(tmp_path):
    own = pathlib.Path(paste.shipped()).read_text()
    once = paste.extended('x', own)
    assert paste.extended('x', once) == once


@pytest.mark.parametrize('line', [
    'paste.app_factory={}', 'paste.app_factory : {}',
    'paste.app_factory   =   {}'])
def test_other_spellings_of_the_line_are_the_same(line):
    text = ('# [app:osapi_compute_app_v21]\n[app:x]\npaste.app_factory = y\n'
            f'[app:osapi_compute_app_v21]\n# kept\n{line.format(paste.NOVA)}')
    assert paste.extended('x', text) == text.replace(
        line.format(paste.NOVA), f'paste.app_factory = {paste.OURS}')


@pytest.mark.parametrize(('text', 'reason'), [
    ('', 'has no paste.app_factory in a section'),
    ('[app:osapi_compute_app_v21]\n', 'has no paste.app_factory'),
    ('[app:osapi_compute_app_v21]\n[app:x]\npaste.app_factory = y',
     'has no paste.app_factory'),
    ('[app:osapi_compute_app_v21]\npaste.app_factory = vendor:App.factory',
     'x:2: names vendor:App.factory'),
])
def test_a_file_of_another_shape_is_refused(text, reason):
    with pytest.raises(errors.StartupError, match=reason):
        paste.extended('x', text)


def test_a_file_that_cannot_be_read_is_one_line(capsys, tmp_path):
    for path in tmp_path / 'none', tmp_path:
        assert shell.main(['paste', '--from', str(path)]) == 1
        out, err = capsys.readouterr()
        assert not out
        assert f'{path}: cannot be read' in err


def test_a_nova_that_ships_none_asks_for_the_file(monkeypatch):
    monkeypatch.setattr(paste.importlib.metadata, 'files', lambda name: [])
    with pytest.raises(errors.StartupError, match='--from'):
        paste.shipped()
