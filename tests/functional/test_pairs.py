"""Properties that no host builds together are refused, at each way in."""

import pytest

from tests.functional import update_case


class Cloud(update_case.Cloud):
    def cdroms(self, server, overrides, build='os-start'):
        """Return the buses of CD-ROM drives that an update leads to."""
        self.put(server, overrides)()
        self.do(server, build)
        return [target.get('bus') for target in self.guest(server).findall(
            "devices/disk[@device='cdrom']/target")]


CONFLICT, NO_EFFECT = 'property_conflict', 'no_effect'
UEFI = {'hw_firmware_type': 'uefi'}
SECURE = {**UEFI, 'os_secure_boot': 'required'}

#: Image, overrides, and what is blamed.
REFUSED = (
    ({}, {**SECURE, 'hw_machine_type': 'pc'},
     dict.fromkeys(('os_secure_boot', 'hw_machine_type'), CONFLICT)),
    ({**SECURE, 'hw_machine_type': 'q35'}, {'hw_machine_type': 'pc'},
     {'hw_machine_type': CONFLICT}),
    ({**UEFI, 'hw_machine_type': 'pc'}, {'os_secure_boot': 'required'},
     {'os_secure_boot': CONFLICT}),
    ({**UEFI, 'hw_machine_type': 'pc'}, {'os_secure_boot': 'optional'},
     {'os_secure_boot': NO_EFFECT}),
    ({}, {'hw_machine_type': 'q35', 'hw_disk_bus': 'ide'},
     dict.fromkeys(('hw_machine_type', 'hw_disk_bus'), CONFLICT)),
    ({'hw_machine_type': 'pc-q35-2.10'}, {'hw_disk_bus': 'ide'},
     {'hw_disk_bus': CONFLICT}),
    ({'hw_architecture': 'aarch64', 'hw_machine_type': 'virt'},
     {'hw_disk_bus': 'ide'}, {'hw_disk_bus': CONFLICT}),
    ({}, {'hw_machine_type': 'pc', 'hw_viommu_model': 'intel'},
     dict.fromkeys(('hw_machine_type', 'hw_viommu_model'), CONFLICT)),
    ({'hw_architecture': 'aarch64'}, {'hw_firmware_type': 'bios'},
     {'hw_firmware_type': CONFLICT}),
    # What the override makes of the image's own properties.
    ({'os_secure_boot': 'required', 'hw_machine_type': 'pc'}, UEFI,
     {'hw_firmware_type': CONFLICT}),
    ({'hw_architecture': 'aarch64', 'hw_emulation_architecture': 'x86_64',
      'hw_disk_bus': 'ide'}, {'hw_emulation_architecture': None},
     {'hw_emulation_architecture': CONFLICT}),
)

#: Image and overrides.
ACCEPTED = (
    # The host decides.
    ({}, SECURE),
    ({}, {'hw_disk_bus': 'ide'}),
    ({}, {'hw_viommu_model': 'intel'}),
    ({**UEFI, 'hw_machine_type': 'pc'}, {'os_secure_boot': 'disabled'}),
    ({}, {'hw_machine_type': 'q35', **SECURE}),
    ({'hw_machine_type': 'q35', 'hw_disk_bus': 'ide'},
     {'hw_disk_bus': 'sata'}),
    ({'os_secure_boot': 'required', 'hw_machine_type': 'q35'}, UEFI),
    # The image's own conflict is left to Nova.
    ({'hw_machine_type': 'q35', 'hw_disk_bus': 'ide'},
     {'hw_boot_menu': 'true'}),
)

#: Memory, overrides, whether they go with a flavor hw:mem_page_size=any.
PAGES = (
    (1536, {'hw_mem_page_size': '1GB'}, False),
    (3072, {'hw_mem_page_size': '1GB', 'hw_numa_nodes': '2'}, False),
    (3072, {'hw_mem_page_size': '1GB'}, True),
    (1536, {'hw_mem_page_size': '2MB'}, True),
    (1536, {'hw_mem_page_size': 'large'}, True),
)


class TestCreate:
    BUILD = False

    @pytest.mark.parametrize('image, overrides, blamed', REFUSED)
    def test_create_and_check_refuse_what_no_host_builds(
            self, cloud, image, overrides, blamed):
        image = cloud.image(**image)
        for answer in (cloud.create(overrides, image=image),
                       cloud.check(overrides, image=image)):
            cloud.assert_refused(answer, 400, blamed)

    @pytest.mark.parametrize('image, overrides', ACCEPTED)
    def test_what_some_host_builds_is_accepted(self, cloud, image, overrides):
        cloud.create(overrides, image=cloud.image(**image)).expect(202)

    def test_so_is_what_the_override_makes_of_the_flavor(self, cloud):
        flavor = cloud.flavor(os__secure_boot='required')
        for machine, status in ('pc', 400), ('q35', 202):
            answer = cloud.create(
                UEFI, flavor=flavor, image=cloud.image(hw_machine_type=machine))
            answer.expect(status, {} if status == 202 else {
                'hw_firmware_type': 'flavor_conflict'})

    @pytest.mark.parametrize('memory, overrides, good', PAGES)
    def test_a_page_size_must_divide_the_memory_of_each_node(
            self, cloud, memory, overrides, good):
        answer = cloud.create(overrides, flavor=cloud.flavor(
            ram=memory, hw__mem_page_size='any'))
        if good:
            answer.expect(202)
            return
        cloud.assert_refused(
            answer, 400, {'hw_mem_page_size': 'flavor_conflict'})
        assert 'multiple of the page size' in answer.message

    def test_the_images_page_size_is_no_fault_of_the_nodes_unless_they_are_new(
            self, cloud):
        flavor = cloud.flavor(ram=3072, hw__mem_page_size='any')
        image = cloud.image(hw_mem_page_size='1048576')
        answer = cloud.create({'hw_numa_nodes': '2'}, flavor=flavor,
                              image=image)
        cloud.assert_refused(answer, 400, {'hw_numa_nodes': 'flavor_conflict'})


class TestLater:
    def test_update_and_rebuild_refuse_it_too(self, cloud):
        server = cloud.stopped({'hw_machine_type': 'q35'})
        overrides = {'hw_machine_type': 'q35', 'hw_disk_bus': 'ide'}
        cloud.assert_refused_unchanged(
            server, 400, {'hw_disk_bus': CONFLICT,
                          'hw_machine_type': CONFLICT}, overrides)
        cloud.rebuild(server, overrides).expect(
            400, dict.fromkeys(overrides, CONFLICT))

    def test_so_they_do_what_an_override_makes_of_the_image(self, cloud):
        server = cloud.stopped(image=cloud.image(
            hw_machine_type='pc', os_secure_boot='required'))
        cloud.assert_refused_unchanged(
            server, 400, {'hw_firmware_type': CONFLICT}, UEFI)

    def test_what_nova_chose_follows_the_machine_type(self, cloud):
        """The CD-ROM of a config drive moves with it, in one step."""
        server = cloud.stopped(server={'config_drive': True})
        assert cloud.system_metadata(server)['hw_cdrom_bus'] == 'ide'
        assert cloud.cdroms(server, {'hw_machine_type': 'q35'}) == ['sata']
        # And back.
        cloud.stop(server)
        assert cloud.cdroms(server, {}) == ['ide']

    def test_the_images_own_bus_does_not_follow_it(self, cloud):
        image = cloud.image(hw_cdrom_bus='scsi')
        server = cloud.stopped(image=image, server={'config_drive': True})
        assert cloud.cdroms(server, {'hw_machine_type': 'q35'}) == ['scsi']

    def test_it_follows_it_while_the_server_is_shelved(self, cloud):
        server = cloud.offloaded(server={'config_drive': True})
        assert cloud.cdroms(
            server, {'hw_machine_type': 'q35'}, 'unshelve') == ['sata']
