"""All of a file is read, or one line says why not."""

import os
import subprocess
import sys

import pytest

from nova_image_override import errors
from nova_image_override.authorization import config_files


def refusal(path):
    with pytest.raises(errors.StartupError) as caught:
        config_files.read('some_option', str(path))
    return str(caught.value)


@pytest.mark.parametrize(('content', 'why'), [
    (b'', 'is empty'),
    (b'\n \n', 'is empty'),
    (b'# a\n  ; b\n', 'is empty'),
    ('\ufeff[a]'.encode(), 'begins with a byte order mark (BOM), remove it'),
    (b'[\xff]', 'is not UTF-8: invalid start byte'),
])
def test_a_file_without_a_text_is_refused_in_one_line(tmp_path, content, why):
    path = tmp_path / 'file'
    path.write_bytes(content)
    assert refusal(path) == f'[image_override] some_option: {path}: {why}'


@pytest.mark.parametrize('make', [os.mkdir, os.mkfifo])
def test_what_is_no_regular_file_is_refused(tmp_path, make):
    path = tmp_path / 'file'
    make(path)
    assert refusal(path) == (
        f'[image_override] some_option: {path}: is not a regular file')


@pytest.mark.parametrize(('name', 'why'), [
    ('none', 'No such file or directory'), ('denied', 'Permission denied')])
def test_a_file_that_cannot_be_opened_is_told(
        tmp_path, monkeypatch, name, why):
    (tmp_path / 'denied').touch()

    def denied(self, **kwargs):
        raise PermissionError(13, 'Permission denied')

    # Not by the file's mode, because tests may run as root.
    monkeypatch.setattr(config_files.pathlib.Path, 'read_text', denied)
    assert refusal(tmp_path / name) == (
        f'[image_override] some_option: {tmp_path / name}: cannot be read: '
        f'{why}')


def test_a_path_must_be_absolute():
    assert refusal('a/b') == (
        '[image_override] some_option: a/b: must be an absolute path')


def test_the_largest_file_is_read_and_one_byte_more_is_not(tmp_path):
    path = tmp_path / 'file'
    path.write_text('[a]')
    os.truncate(path, config_files.BYTES_MAX)
    assert config_files.read('some_option', str(path)).startswith('[a]')
    os.truncate(path, config_files.BYTES_MAX + 1)
    assert refusal(path) == (
        f'[image_override] some_option: {path}: is larger than 16384 KiB')


@pytest.mark.parametrize('content', ['  [a]', '\t# a\nb', 'X'])
def test_text_that_is_indented_counts(tmp_path, content):
    path = tmp_path / 'file'
    path.write_text(content)
    assert config_files.read('some_option', str(path)) == content


def test_text_is_read_as_utf_8_whatever_the_locale(tmp_path):
    path = tmp_path / 'file'
    path.write_bytes('[\u00e4]'.encode())
    assert config_files.read('some_option', str(path)) == '[\u00e4]'
    read = (
        'import sys\n'
        'from nova_image_override.authorization import config_files\n'
        'print(ascii(config_files.read("some_option", sys.argv[1])))'
    )
    assert subprocess.run(
        [sys.executable, '-X', 'utf8=0', '-c', read, path], check=True,
        capture_output=True, text=True, env={
            **os.environ, 'LC_ALL': 'C', 'PYTHONCOERCECLOCALE': '0'},
    ).stdout == "'[\\xe4]'\n"


def test_a_reason_of_many_lines_is_one_line():
    assert str(config_files.failure('o', '/p', 'why\n  and more')) == (
        '[image_override] o: /p: why and more')
