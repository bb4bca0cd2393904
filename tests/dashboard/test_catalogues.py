"""The translations that come with the plugin."""

from tools import catalogues


def test_every_text_is_translated_and_compiled():
    assert catalogues.outdated() == []


def test_texts_of_every_kind_of_file_are_found():
    django, javascript = (
        set(catalogues.messages(domain)) for domain in ('django', 'djangojs'))
    assert 'Edit Image Property Overrides' in django & javascript
    # From a Django template, and from what is translated when it is shown.
    assert {'Value in force', 'Which host'} <= django
    # From an Angular template, and from JavaScript.
    assert {'Search properties', 'Must be %s.'} <= javascript
