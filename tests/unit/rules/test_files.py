"""Where something stands in a file, for messages."""

import pytest

from nova_image_override.rules import files

TEXT = '''\
# comment
[first]
Create = a
 update = part of the value
delete: b
[second] # comment
create=c
'''


def test_sections_are_found_by_the_line_of_their_header():
    assert files.header_lines(TEXT) == {'first': 2, 'second': 6}


@pytest.mark.parametrize(('header', 'key', 'line'), [
    (2, 'create', 3), (2, 'delete', 5), (6, 'create', 7),
    (2, 'update', None), (6, 'delete', None), (2, 'read', None)])
def test_keys_are_found_in_their_section_only(header, key, line):
    assert files.key_line(TEXT, header, key) == line
