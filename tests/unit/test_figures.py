"""What a long run counts is kept when it is made in parts."""

import json

import pytest

from testing import figures


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """Return what is recorded after figures were added on a commit."""
    path = tmp_path / 'races.json'
    monkeypatch.setattr(figures, '_path', lambda item: path)

    def kept(commit, **added):
        monkeypatch.setattr(figures, 'running', lambda: {
            'commit': commit, 'nova': '34', 'date': 'today'})
        figures.add('races', added)
        return json.loads(path.read_text())
    return kept


def test_parts_on_one_commit_are_one_run(kept):
    kept('abc', pairs=2, update='one', start='both')
    assert kept('abc', pairs=3, update='two', delete='none') == {
        'commit': 'abc', 'nova': '34', 'date': 'today', 'pairs': 5,
        'update': 'two', 'start': 'both', 'delete': 'none'}


def test_what_was_counted_on_another_commit_is_gone(kept):
    kept('abc', pairs=2, update='one')
    assert kept('abc-dirty', pairs=3) == {
        'commit': 'abc-dirty', 'nova': '34', 'date': 'today', 'pairs': 3}
