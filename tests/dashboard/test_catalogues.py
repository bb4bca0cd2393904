"""The translations that come with the plugin."""

from tools import catalogues


def test_every_text_is_translated_and_compiled():
    assert catalogues.outdated() == []


def test_texts_of_every_kind_of_file_are_found():
    django, javascript = (
        set(catalogues.messages(domain)) for domain in ('django', 'djangojs'))
    assert 'Edit Image Property Overrides' in django & javascript
    # Of a template of Django's, and of what is translated when it is shown.
    assert {'Value in force', 'Which host'} <= django
    # Of a template of Angular's, and of JavaScript.
    assert {'Search properties', 'Must be %s.'} <= javascript
