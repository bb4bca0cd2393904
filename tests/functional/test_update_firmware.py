"""Firmware that a start of a server does not choose anew.

Nova keeps a server's NVRAM and, since Nova 33, copies loader and NVRAM from
the guest that there was. What came of it on a real cloud is in
tests/integration/test_firmware.py.
"""

import pytest

from testing import release
from testing.harness import ids
from tests.functional import update_case

UEFI = {'hw_firmware_type': 'uefi', 'hw_machine_type': 'q35'}
SECURE = {**UEFI, 'os_secure_boot': 'required'}
STATELESS = {**UEFI, 'hw_firmware_stateless': 'true'}

Cloud = update_case.Cloud


class TestStopped:
    @pytest.mark.parametrize('has, asked, names', [
        (UEFI, SECURE, ['os_secure_boot']),
        (UEFI, {**UEFI, 'os_secure_boot': 'optional'}, ['os_secure_boot']),
        (SECURE, UEFI, ['os_secure_boot']),
        (SECURE, {}, ['os_secure_boot']),
        (UEFI, STATELESS, ['hw_firmware_stateless']),
        # Until it is started, it may still have the NVRAM of another time.
        ({}, SECURE, ['os_secure_boot']),
        ({}, STATELESS, ['hw_firmware_stateless']),
        ({}, {**SECURE, **STATELESS},
         ['hw_firmware_stateless', 'os_secure_boot']),
    ], ids=ids.short)
    def test_what_would_not_be_in_force_needs_a_rebuild(
            self, cloud, has, asked, names):
        release.need(*has, *asked)
        server = cloud.stopped(has)
        answer = cloud.assert_refused_unchanged(
            server, 409, dict.fromkeys(names, 'needs_rebuild'), asked)
        assert 'rebuild the server, or shelve it first' in answer.message

    @pytest.mark.parametrize('has, asked', [
        ({}, UEFI), (UEFI, {}), (SECURE, {**SECURE, 'hw_boot_menu': 'true'}),
        (UEFI, {**UEFI, 'hw_machine_type': 'pc'}),
        # As it is without them.
        (UEFI, {**UEFI, 'os_secure_boot': 'disabled'}),
        (UEFI, {**UEFI, 'hw_firmware_stateless': 'false'}),
    ], ids=ids.short)
    def test_firmware_and_machine_type_act_at_the_next_start(
            self, cloud, has, asked):
        release.need(*has, *asked)
        server = cloud.stopped(has)
        cloud.update(server, asked).expect(200)

    def test_what_the_flavor_says_already_changes_nothing(self, cloud):
        server = cloud.stopped(
            UEFI, flavor=cloud.flavor(os__secure_boot='required'))
        assert cloud.update(server, SECURE).status == 200


def test_one_that_a_default_of_nova_compute_excludes_is_kept(cloud):
    overrides = {'hw_firmware_type': 'uefi', 'os_secure_boot': 'optional'}
    server = cloud.stopped(overrides)
    assert cloud.system_metadata(server)['hw_machine_type'] == 'pc'
    cloud.update(server, {**overrides, 'hw_boot_menu': 'true'}).expect(200)


class TestBuiltAnew:
    @pytest.mark.parametrize('asked', [SECURE, STATELESS], ids=ids.short)
    def test_an_offloaded_server_may_be_given_it(self, cloud, asked):
        release.need(*asked)
        cloud.update(cloud.offloaded(UEFI), asked).expect(200)

    def test_a_rebuild_may(self, cloud):
        server = cloud.boot(UEFI)
        cloud.rebuild(server, SECURE).expect(202)


class TestVTPM:
    """Nova neither rebuilds nor shelves a server with a vTPM."""

    @pytest.mark.parametrize('asked, problems', [
        ({'hw_tpm_version': None, 'hw_tpm_model': None},
         {'hw_tpm_version': 'needs_claim', 'hw_tpm_model': 'needs_claim'}),
        (update_case.NUMA, dict.fromkeys(update_case.NUMA, 'needs_claim')),
        (SECURE, {'os_secure_boot': 'needs_rebuild'}),
        ({'trait:CUSTOM_GOLD': 'required'},
         {'trait:CUSTOM_GOLD': 'unschedulable'}),
    ], ids=ids.short)
    def test_no_way_is_named_that_nova_would_refuse(
            self, cloud, asked, problems):
        server = cloud.stopped()
        cloud.change(server, system_metadata={
            **cloud.instance(server).system_metadata,
            'image_hw_tpm_version': '2.0', 'image_hw_tpm_model': 'tpm-crb'})
        answer = cloud.assert_refused_unchanged(server, 409, problems, asked)
        assert 'boot another server' in answer.message
        assert 'shelve it' not in answer.message
