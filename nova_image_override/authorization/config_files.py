"""Reads a whole file of the deployer's, or fails with one line."""

import pathlib
import stat

from nova_image_override import errors

#: Largest file that is read, in bytes: some 100,000 protected properties.
BYTES_MAX = 16 * 2**20


def failure(option: str, path: str, why: object) -> errors.StartupError:
    """Return the error for a file, with the lines of WHY joined."""
    return errors.StartupError(errors.Fault(
        option, path, ' '.join(str(why).split())))


def read(option: str, path: str, most: int = BYTES_MAX) -> str:
    """Return the text of the file at PATH, which OPTION names.

    :param most: largest file that is read, in bytes
    :raises errors.StartupError: the file is missing, unreadable, not a regular
        file, too large, not UTF-8, or empty
    """
    file = pathlib.Path(path)
    if not file.is_absolute():
        raise failure(option, path, 'must be an absolute path')
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise failure(option, path, 'is not a regular file')
        if status.st_size > most:
            raise failure(option, path, f'is larger than {most // 2**10} KiB')
        text = file.read_text(encoding='utf-8')
    except OSError as exc:
        raise failure(option, path, f'cannot be read: {exc.strerror}') from None
    except UnicodeDecodeError as exc:
        raise failure(option, path, f'is not UTF-8: {exc.reason}') from None
    if text.startswith('\ufeff'):
        raise failure(
            option, path, 'begins with a byte order mark (BOM), remove it')
    if all(not line.strip() or line.lstrip()[0] in '#;'
           for line in text.split('\n')):
        raise failure(option, path, 'is empty')
    return text
