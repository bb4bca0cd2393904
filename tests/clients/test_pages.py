"""What the documentation shows of clients is what they do.

Run with WRITE_SAMPLES=1 to update the output of the commands.
"""

import os
import re
import subprocess
import xml.etree.ElementTree as ET

import pytest

from tests.clients import pages
from tests.clients import tools

USER = tools.ROOT / 'docs' / 'source' / 'user'

PAGES = [tools.ROOT / 'README.md', USER / 'openstack.rst', USER / 'nova.rst',
         USER / 'nfv.rst', USER / 'nfv-start.rst',
         USER / 'from-another-cloud.rst', USER / 'create.rst']

SAMPLES = USER.parent / 'samples'

#: The parts of a guest's definition that the pages show, by the server's name.
GUESTS = {
    'packets': ('memoryBacking', 'cputune', 'numatune', 'cpu/numa'),
    'two-nodes': ('cpu/numa', 'numatune'),
    'by-hand': ('memoryBacking', 'cpu/numa', 'numatune'),
    'huge': ('memoryBacking', 'cpu/numa', 'numatune'),
    'gigantic': ('memoryBacking', 'cpu/numa', 'numatune'),
    'pinned': ('cputune',),
    'siblings': ('cputune', 'cpu/topology'),
    'realtime': ('cputune', 'memoryBacking'),
    'near': ('devices/hostdev', 'numatune'),
    'queues': ('devices/interface/driver',),
    'one-socket': ('cpu/topology',),
    'everything': ('memoryBacking', 'cputune', 'numatune', 'cpu/numa'),
}

# Other releases show different rows and wrap lines differently.
pytestmark = pytest.mark.skipif(
    not tools.NEWEST, reason='the pages are of release 10')


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_print_what_it_shows(client, cloud, page):
    def run(command):
        done = client.run(
            'bash', '-c', command, OS_AUTH_URL=f'{client.url}/identity/v3',
            **{f'OS_{name}': 'demo' for name in (
                'USERNAME', 'PASSWORD', 'PROJECT_NAME')},
            **{f'OS_{kind}_DOMAIN_NAME': 'Default'
               for kind in ('USER', 'PROJECT')})
        return done.stdout + done.stderr

    text = page.read_text()
    assert list(pages.blocks(text))
    real = text
    for block in pages.blocks(text):
        real = real.replace(block[0], pages.replayed(block, run))
    if os.environ.get('WRITE_SAMPLES'):
        page.write_text(real)
    assert page.read_text() == real
    for name in re.findall(r'/samples/nfv-(\S+)-guest\.xml$', text, re.M):
        check_guest(cloud, name)


def test_a_reader_of_all_pages_never_creates_two_servers_of_one_name():
    names = [name for page in PAGES for name in re.findall(
        r'(?:-c status|-c status -f value|--poll) ([a-z][\w-]+)',
        page.read_text())]
    assert len(names) > len(PAGES)
    assert len(names) == len({*names}), sorted(names)


def check_guest(cloud, name):
    """Compare the guest of the server NAME with the page's sample."""
    *_, guest = (guest for guest in map(ET.fromstring, cloud.built.values())
                 if guest.findtext('metadata//{*}name') == name)
    found = [element for path in GUESTS[name]
             for element in guest.findall(path)]
    for element in found:
        ET.indent(element)
    text = ''.join(ET.tostring(element, encoding='unicode').strip() + '\n'
                   for element in found)
    sample = SAMPLES / f'nfv-{name}-guest.xml'
    if os.environ.get('WRITE_SAMPLES'):
        sample.write_text(text)
    assert sample.read_text() == text


@pytest.mark.parametrize('page', ['openstacksdk.rst', 'create.rst'])
def test_the_programs_of_a_page_print_what_it_shows(
        page, client, hooked_clouds):
    done = client.run(
        'python', '-m', 'doctest', '-o', 'ELLIPSIS', '-o',
        'NORMALIZE_WHITESPACE', str(USER / page),
        OS_CLIENT_CONFIG_FILE=str(hooked_clouds))
    assert done.returncode == 0, done.stdout
    assert client.seen.compute('POST')


@pytest.mark.parametrize('text', [
    '$ openstack server list\n', '$ nova list\nout\n'])
def test_a_page_whose_output_is_not_the_real_one_is_noticed(text):
    block = next(pages.blocks(f'```console\n{text}```\n'))
    assert pages.replayed(block, lambda command: 'real') != block[0]
    again = pages.replayed(block, lambda command: 'real')
    assert pages.replayed(
        next(pages.blocks(again)), lambda command: 'real') == again


def test_programs_are_found_in_the_clients_environment():
    done = subprocess.run(
        [tools.CLIENTS / 'bin' / 'openstack', '--version'],
        capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith('openstack 10.')
