"""The guest of docs/source/user/nfv-start.rst, whoever makes it."""

from testing.site import cloud as cloud_module


class Cloud(cloud_module.Cloud):
    EXTENDED_HOSTS = ('compute1',)

    def assert_guest(self, server):
        """Assert that it has pages and CPUs of its own, on one node."""
        guest = self.guest(server)
        (page,) = guest.findall('memoryBacking/hugepages/page')
        assert page.get('size') == '2048'
        assert len({pin.get('cpuset') for pin in guest.findall(
            'cputune/vcpupin')}) == 4
        assert len(guest.findall('cpu/numa/cell')) == 1
