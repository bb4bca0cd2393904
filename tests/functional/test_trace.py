"""How far a reader moves between files to follow one request."""

import pathlib
import re
import sys

import pytest

import nova_image_override
from testing import release
from testing.harness import base
from tests.functional import update_case

ROOT = str(pathlib.Path(nova_image_override.__file__).parent)
PAGE = pathlib.Path(__file__).parents[2] / (
    'docs/source/contributor/request.rst')

OVERRIDES = {
    'hw_disk_bus': 'scsi', 'hw_boot_menu': 'true', 'hw_cpu_sockets': '2'}

#: Frames without a name of their own.
_NAMELESS = re.compile(r'<\w+comp>|<genexpr>|<lambda>')


def bounds():
    """Return what the documentation says: request -> files and moves."""
    rows = re.findall(
        r'\* - (\w[^\n]*)\n +- (\d+)\n +- (\d+)\n', PAGE.read_text())
    return {name: (int(files), int(moves)) for name, files, moves in rows}


def files_entered(call):
    """Return the files of the package in the order in which CALL enters them.

    :returns: each file, again when a function of another was called meanwhile
    """
    entered = []

    def note(frame, event, arg):
        code = frame.f_code
        if event == 'call' and code.co_filename.startswith(ROOT) and (
                not _NAMELESS.fullmatch(code.co_name)) and (
                entered[-1:] != [code.co_filename]):
            entered.append(code.co_filename)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


@pytest.mark.skipif(release.NUMBER != 34, reason='counted on Nova 34')
class TestTrace:
    CLOUD = update_case.Cloud

    @pytest.fixture
    def requests(self, cloud):
        """The requests of the page, after others of the same kinds."""
        image = cloud.image(hw_vif_model='e1000')
        server, stopped = cloud.boot(OVERRIDES), cloud.stopped(OVERRIDES)
        other = cloud.image(hw_rng_model='virtio')
        cloud.update(stopped, {'hw_boot_menu': 'true'})
        return {
            'create, three overrides': lambda: cloud.create(
                OVERRIDES, image=image),
            'check, refused': lambda: cloud.http(
                'POST', '/image-props-override/check', {'server': {
                    'imageRef': image, 'flavorRef': '1',
                    base.PARAMETER: OVERRIDES}}),
            'rebuild from another image': lambda: cloud.act(
                server, {'rebuild': {'imageRef': other}}),
            'update': lambda: cloud.update(
                stopped, {'hw_disk_bus': 'sata', 'hw_cpu_sockets': '2'}),
        }

    def test_no_request_is_harder_to_follow_than_the_page_says(self, requests):
        assert bounds().keys() == requests.keys()
        for name, (files, moves) in bounds().items():
            entered = files_entered(requests[name])
            assert len({*entered}) <= files, name
            assert len(entered) - 1 <= moves, name
