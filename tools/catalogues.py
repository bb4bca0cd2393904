"""Update the dashboard's catalogues of translations.

Run it in Horizon's environment, which has Babel and Horizon's own extractor:
``make catalogues``. What has no translation yet is printed, and is an error.
"""

import collections.abc
import io
import itertools
import pathlib
import sys

from babel.messages import catalog as catalog_module
from babel.messages import extract
from babel.messages import mofile
from babel.messages import pofile
from django.conf import settings
from django.utils.translation import template
from horizon.utils import babel_extract_angular

ROOT = pathlib.Path(__file__).parents[1]
PACKAGE = ROOT / 'nova_image_override_dashboard'

LANGUAGES = ('de', 'ja')

#: Name of a function -> which of its arguments are texts.
_KEYWORDS = {'_': None, 'gettext': None, 'gettext_lazy': None,
             'gettext_noop': None, 'ngettext': (1, 2), 'pgettext': (2,)}

Messages = collections.abc.Iterator[str | tuple[str, str]]


def messages(domain: str) -> Messages:
    """Yield every text of a domain that the plugin may show.

    :param domain: ``django`` or ``djangojs``
    """
    if domain == 'djangojs':
        for path in sorted(PACKAGE.rglob('static/**/*.js')):
            yield from _extracted('javascript', path.read_bytes())
        for path in sorted(PACKAGE.rglob('static/**/*.html')):
            with path.open('rb') as file:
                for _line, _function, text, _ in (
                        babel_extract_angular.extract_angular(
                            file, (), (), {})):
                    yield text
        return
    for path in sorted(PACKAGE.rglob('*.py')):
        yield from _extracted('python', path.read_bytes())
    for path in sorted(PACKAGE.rglob('templates/**/*.html')):
        yield from _extracted(
            'python', template.templatize(path.read_text()).encode())
    # Texts that are translated when they are shown: choices.py.
    sys.path.insert(0, str(ROOT))
    from nova_image_override.properties import book
    yield from book.PURPOSES


def _extracted(method: str, source: bytes) -> Messages:
    for _line, text, _comments, _context in extract.extract(
            method, io.BytesIO(source), keywords=_KEYWORDS):
        yield text


def written(language: str, domain: str) -> tuple[bytes, bytes, list[str]]:
    """Return a catalogue as it ought to be.

    :returns: content of the ``.po`` file, of the ``.mo`` file, and the texts
        that have no translation
    """
    with _path(language, domain).open('rb') as file:
        have = pofile.read_po(file, locale=language, domain=domain)
    new = catalog_module.Catalog(
        locale=language, domain=domain, project='nova-image-override',
        version='1', header_comment='# Made by make catalogues.',
        msgid_bugs_address='nova-image-override team',
        last_translator='nova-image-override team',
        language_team=language, charset='utf-8',
        creation_date=have.creation_date,
        revision_date=have.creation_date, fuzzy=False)
    for text in messages(domain):
        known = have.get(text[0] if isinstance(text, tuple) else text)
        new.add(text, known.string if known else None)
    po, mo = io.BytesIO(), io.BytesIO()
    pofile.write_po(po, new, sort_output=True, width=79, omit_header=False)
    mofile.write_mo(mo, new)
    missing = [str(message.id) for message in new
               if message.id and not all(
                   [message.string] if isinstance(message.string, str)
                   else message.string or [None])]
    return po.getvalue(), mo.getvalue(), missing


def _path(language: str, domain: str) -> pathlib.Path:
    return (PACKAGE / 'locale' / language / 'LC_MESSAGES' / f'{domain}.po')


def outdated(*, write: bool = False) -> list[str]:
    """Return what is wrong with the catalogues, one line each.

    :param write: whether to write them, so that nothing but texts without a
        translation is wrong
    """
    found = []
    for language, domain in itertools.product(
            LANGUAGES, ('django', 'djangojs')):
        path = _path(language, domain)
        *wanted, missing = written(language, domain)
        name = path.relative_to(ROOT)
        found += [f'{name}: no translation: {text}' for text in missing]
        for file, content in zip(
                (path, path.with_suffix('.mo')), wanted, strict=True):
            if write:
                file.write_bytes(content)
            elif file.read_bytes() != content:
                found.append(f'{name}: run make catalogues')
    return found


# Django's templates are read without any setting of Horizon's.
if not settings.configured:
    settings.configure(USE_I18N=True)

if __name__ == '__main__':
    sys.exit('\n'.join(outdated(write=True)) or None)
