"""What the demo prints is coloured only for people at a terminal."""

import io

import pytest

from demo import page


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.delenv('NO_COLOR', raising=False)
    monkeypatch.setenv('TERM', 'xterm')


def written(stream):
    sheet = page.Page(stream)
    sheet.heading('Title')
    sheet.table(['name', 'value'], [['a', '1'], ['bb', '2']], marked=['bb'])
    sheet.diff(('old', ['x', 'y']), ('new', ['x', 'z']))
    return stream.getvalue()


def test_a_terminal_gets_colour():
    text = written(Terminal())
    assert '\033[32m+z\033[0m' in text
    assert '\033[31m-y\033[0m' in text
    assert '\033[32mbb    2      overridden\033[0m' in text


def test_a_pipe_gets_the_same_text_without_colour():
    plain = written(io.StringIO())
    assert '\033' not in plain
    assert '\nname  value\na     1\nbb    2      overridden\n' in plain
    assert plain.endswith(
        '--- old\n+++ new\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n')


@pytest.mark.parametrize(
    ('name', 'value'), [('NO_COLOR', '1'), ('TERM', 'dumb')])
def test_a_terminal_without_colour_gets_none(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert '\033' not in written(Terminal())


def test_an_empty_no_color_does_not_count(monkeypatch):
    monkeypatch.setenv('NO_COLOR', '')
    assert '\033' in written(Terminal())


def test_texts_that_do_not_differ_are_said_not_to():
    stream = io.StringIO()
    page.Page(stream).diff(('old', ['x']), ('new', ['x']))
    assert stream.getvalue() == 'They do not differ.\n'
