"""Overrides as scheduler hints, for clients that cannot name the extension.

The requests are those that Terraform, Horizon, Ansible's server module and
the like send, without an entry of ours in the header.
"""

import json
from unittest import mock

from nova import objects
import pytest

from nova_image_override import errors
from nova_image_override import versions
from testing import release
from testing.harness import base
from testing.harness import ids

HINTS = 'os:scheduler_hints'
LEGACY_HINTS = 'OS-SCH-HNT:scheduler_hints'
PREFIX = f'{base.PARAMETER}:'


class Cloud(base.Cloud):
    def hint(self, hints, key=HINTS, overrides=None, body=None, **kwargs):
        """Create a server with scheduler hints and no header entry of ours."""
        sent = {**self.server_body(overrides, **(body or {})), key: hints}
        if kwargs.get('compute', self.COMPUTE) in (None, '2.1'):
            # Since 2.37.
            del sent['server']['networks']
        return self.http('POST', '/servers', sent,
                         **{'extension': None, **kwargs})

    def hinted(self, *args, **kwargs):
        """Return the ID of a server that hint() made, once it is ACTIVE."""
        return self.created(self.hint(*args, **kwargs))

    def forms(self, asked):
        return ({base.PARAMETER: asked},
                {base.PARAMETER: json.dumps(asked)},
                {PREFIX + name: value for name, value in asked.items()})


class TestOpenToHints:
    OPTIONS = {'allowed_properties': ['*'], 'accept_scheduler_hint': True}

    @pytest.mark.smoke
    def test_every_form_reaches_the_guest(self, cloud):
        for hints in cloud.forms(
                {'hw_disk_bus': 'scsi', 'hw_boot_menu': 'yes'}):
            for key in (HINTS, LEGACY_HINTS):
                server = cloud.hinted(hints, key)
                assert cloud.show(server)[base.PARAMETER] == {
                    'hw_disk_bus': 'scsi', 'hw_boot_menu': 'true'}
                assert cloud.disk_bus(server) == 'scsi'
                assert cloud.guest(server).find('os/bootmenu').get(
                    'enable') == 'yes'

    @pytest.mark.parametrize('kwargs', [
        {'api': 'v2', 'compute': None}, {'compute': None},
        {'compute': '2.1'}], ids=ids.short)
    def test_an_old_client_can_use_them(self, cloud, kwargs):
        server = cloud.hinted(
            {PREFIX + 'hw_disk_bus': 'scsi'}, **kwargs)
        assert cloud.system_metadata(server)['hw_disk_bus'] == 'scsi'

    @pytest.mark.smoke
    def test_neither_scheduler_nor_database_sees_our_hints(self, cloud):
        seen = []
        original = objects.RequestSpec.from_components.__func__

        def keep(cls, *args, **kwargs):
            spec = original(cls, *args, **kwargs)
            seen.append(spec.scheduler_hints)
            return spec

        with mock.patch.object(objects.RequestSpec, 'from_components',
                               classmethod(keep)):
            server = cloud.hinted({
                base.PARAMETER: {'hw_disk_bus': 'scsi'}, 'mine': 'kept'})
            other = cloud.hinted({PREFIX + 'hw_disk_bus': 'scsi'})
        assert [dict(hints) for hints in seen] == [{'mine': ['kept']}, {}]
        assert dict(cloud.spec(server).scheduler_hints) == {'mine': ['kept']}
        assert dict(cloud.spec(other).scheduler_hints) == {}
        for compute in release.microversions('2.100'):
            assert cloud.show(server, compute=compute)[
                'scheduler_hints'] == {'mine': ['kept']}

    def test_without_an_entry_the_newest_version_takes_them(self, cloud):
        image = cloud.image(hw_disk_bus='scsi')
        for hints in ({base.PARAMETER: '{"hw_disk_bus": null}'},
                      {PREFIX + 'hw_disk_bus': None}):
            server = cloud.hinted(hints, body={'image': image})
            assert cloud.show(server)[base.PARAMETER] == {'hw_disk_bus': None}

    def test_answers_without_an_entry_do_not_speak_of_the_extension(
            self, cloud):
        answer = cloud.hint({base.PARAMETER: {'hw_disk_bus': 'scsi'}})
        assert answer.headers[versions.HEADER] == f'compute {cloud.COMPUTE}'
        server = cloud.created(answer)
        assert base.PARAMETER not in cloud.show(server, extension=None)

    def test_an_empty_object_overrides_nothing(self, cloud):
        for empty in ({}, '{}'):
            server = cloud.hinted({base.PARAMETER: empty})
            assert cloud.show(server)[base.PARAMETER] == {}
            assert dict(cloud.spec(server).scheduler_hints) == {}

    def test_the_parameter_still_needs_the_entry(self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_disk_bus': 'scsi'}, extension=None), 400,
            {base.PARAMETER: 'version_missing'})


class TestRefusedHints:
    """What the parameter may not do, a hint may not do either."""

    BUILD = False
    OPTIONS = {'allowed_properties': ['hw_disk_bus', 'hw_boot_menu'],
               'denied_properties': ['hw_disk_bus=ide'],
               'accept_scheduler_hint': True}
    POLICY = {'os_compute_api:servers:create:image_props_override:'
              'hw_boot_menu': 'role:special'}

    @pytest.mark.smoke
    def test_a_wrong_hint_names_every_offending_property(self, cloud):
        for hints in cloud.forms({
                'hw_disk_bus': 'floppy', 'vm_mode': 'hvm', 'hw_bot_menu': '1',
                'hw_pmu': True, 'hw_cpu_cores': 2, 'os_type': ['linux'],
                'hw_boot_menu': {'a': 'b'}, '': 'x'}):
            cloud.assert_refused(cloud.hint(hints), 400, {
                '': 'unknown', 'hw_boot_menu': 'invalid_type',
                'hw_bot_menu': 'unknown', 'hw_cpu_cores': 'invalid_type',
                'hw_disk_bus': 'invalid_value', 'hw_pmu': 'invalid_type',
                'os_type': 'invalid_type', 'vm_mode': 'legacy_name'})

    @pytest.mark.smoke
    def test_a_hint_is_judged_by_the_rules_of_the_parameter(self, cloud):
        for hints in cloud.forms({
                'hw_disk_bus': 'ide', 'hw_boot_menu': 'true',
                'hw_pmu': 'true', 'img_owner_id': 'x'}):
            for kwargs in ({}, {'api': 'v2', 'compute': None}):
                cloud.assert_refused(cloud.hint(hints, **kwargs), 403, {
                    'hw_boot_menu': 'policy', 'hw_disk_bus': 'denied',
                    'hw_pmu': 'not_allowed', 'img_owner_id': 'never'})

    # The unit tests of what is asked for have more of them.
    @pytest.mark.parametrize('value, code', [
        (['hw_disk_bus=scsi'], 'invalid_type'), (None, 'invalid_type'),
        ('[]', 'invalid_type'), ('NaN', 'invalid_type'),
        ('', 'invalid_value'), ('\ud800', 'invalid_value'),
        ('[' * 100000, 'invalid_value')], ids=ids.short)
    def test_what_is_no_object_is_refused(self, cloud, value, code):
        cloud.hint({base.PARAMETER: value}).expect(400, {base.PARAMETER: code})
        cloud.assert_nothing_created()

    def test_more_than_one_form_is_refused_saying_which_came(self, cloud):
        whole = {base.PARAMETER: {'hw_disk_bus': 'scsi'}}
        single = {PREFIX + 'hw_disk_bus': 'scsi'}
        for hints, key, overrides, more in (
                ({**whole, **single}, HINTS, None, {}),
                ({**whole, **single}, LEGACY_HINTS, None, {}),
                (whole, HINTS, None, {LEGACY_HINTS: whole}),
                (whole, HINTS, None, {LEGACY_HINTS: single}),
                (single, HINTS, {'hw_disk_bus': 'scsi'}, {}),
                (whole, LEGACY_HINTS, {}, {})):
            for extension in (None, base.LATEST):
                answer = cloud.http('POST', '/servers', {
                    **cloud.server_body(overrides), key: hints, **more},
                    extension=extension)
                cloud.assert_refused(answer, 400,
                                     {base.PARAMETER: 'duplicate'})
                assert f'{key}.{base.PARAMETER}' in answer.message
                for other in more:
                    assert other in answer.message
                if overrides is not None:
                    assert f'server.{base.PARAMETER}' in answer.message

    def test_a_name_twice_in_a_text_hides_no_other_problem(self, cloud):
        cloud.assert_refused(cloud.hint({
            base.PARAMETER: '{"hw_pmu": "on", "hw_pmu": "off", "hw_x": "1", '
            '"os_type": "linux", "os_type": "linux", "hw_disk_bus": "floppy"}'
        }), 400, {
            'hw_pmu': 'duplicate', 'os_type': 'duplicate', 'hw_x': 'unknown',
            'hw_disk_bus': 'invalid_value'})

    def test_a_text_that_cannot_be_read_hides_no_wrong_preset(self, cloud):
        cloud.assert_refused(cloud.hint(
            {base.PARAMETER: '{', errors.PRESET: 'none'}), 400, {
            base.PARAMETER: 'invalid_value', errors.PRESET: 'unknown_preset'})

    def test_the_hints_that_nova_would_ignore_are_judged_too(self, cloud):
        # With both keys, Nova reads only the first.
        answer = cloud.http('POST', '/servers', {
            **cloud.server_body(), HINTS: {},
            LEGACY_HINTS: {PREFIX + 'hw_disk_bus': 'ide'}}, extension=None)
        cloud.assert_refused(answer, 403, {'hw_disk_bus': 'denied'})

    def test_the_legacy_api_does_not_take_the_parameter_beside_a_hint(
            self, cloud):
        answer = cloud.hint({PREFIX + 'hw_disk_bus': 'scsi'}, api='v2',
                            overrides={'hw_disk_bus': 'scsi'}, compute=None)
        cloud.assert_refused(answer, 400, {base.PARAMETER: 'not_here'})

    def test_malformed_hints_are_refused_by_nova(self, cloud):
        for hints in ('image_props_override', None, ['image_props_override']):
            answer = cloud.hint(hints).expect(400)
            assert base.PARAMETER not in answer.body['badRequest']


class TestClosedToHints:
    """The default: Nova would accept the hint and do nothing with it."""

    @pytest.mark.smoke
    def test_overrides_in_hints_are_refused(self, cloud):
        for name in (base.PARAMETER, PREFIX + 'hw_disk_bus', PREFIX):
            for key in (HINTS, LEGACY_HINTS):
                for kwargs in ({}, {'extension': base.LATEST},
                               {'api': 'v2', 'compute': None}):
                    answer = cloud.hint({name: '{}'}, key, **kwargs)
                    cloud.assert_refused(answer, 400,
                                         {base.PARAMETER: 'not_here'})
                    assert versions.ENTRY in answer.message

    def test_hints_of_other_names_are_novas(self, cloud):
        hints = {'mine': ['x'], 'image_props_overrides': ['y'],
                 f'x-{base.PARAMETER}': ['z']}
        server = cloud.hinted(hints)
        for compute in release.microversions('2.100'):
            assert cloud.show(server, compute=compute,
                               extension=None)['scheduler_hints'] == hints
