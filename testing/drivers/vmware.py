"""A vSphere: Nova's own fake of its API, and what it is asked to build.

``nova.tests.unit.virt.vmwareapi.fake`` keeps inventory and devices in
dictionaries. It forgets most of what a specification says, so specifications
are kept here as the driver sends them.
"""
from __future__ import annotations

import typing

import fixtures
from nova.tests.unit.virt.vmwareapi import fake
from nova.tests.unit.virt.vmwareapi import stubs
from nova.virt.vmwareapi import driver
from nova.virt.vmwareapi import ds_util
from nova.virt.vmwareapi import vm_util

#: Network cards, in Nova's order of models (vm_util.convert_vif_model).
CARDS = ('VirtualE1000', 'VirtualE1000e', 'VirtualPCNet32',
         'VirtualSriovEthernetCard', 'VirtualVmxnet', 'VirtualVmxnet3')
#: What disks are attached to (vm_util.create_controller_spec).
CONTROLLERS = ('ParaVirtualSCSIController', 'VirtualBusLogicController',
               'VirtualIDEController', 'VirtualLsiLogicController',
               'VirtualLsiLogicSASController')


class Guest(typing.NamedTuple):
    """What vSphere was asked to build, as far as image properties decide it.

    :ivar cores: per socket
    :ivar video: RAM of the video card in KiB
    :ivar linked: whether the root disk is a linked clone
    """

    guest_id: str
    firmware: str | None
    cores: int | None
    video: typing.Any
    cards: list[str]
    controllers: list[str]
    linked: bool


class VSphere(fixtures.Fixture):
    """Nova's fake, with one cluster.

    :ivar asked: method and arguments of each call since the last look
    """

    #: Options of ``[vmware]``.
    OPTIONS = {'cluster_name': 'test_cluster', 'host_ip': 'vsphere',
               'host_username': 'user', 'host_password': 'password',
               'api_retry_count': 1, 'use_linked_clone': False}

    def __init__(self, test: typing.Any) -> None:
        self._test = test

    def _setUp(self) -> None:
        self.asked: list[tuple[str, dict[str, typing.Any]]] = []
        ds_util.dc_cache_reset()
        vm_util.vm_refs_cache_reset()
        stubs.set_stubs(self._test)
        # The fake has no extensions.
        self.useFixture(fixtures.MockPatchObject(
            driver.VMwareVCDriver, '_register_openstack_extension'))
        fake.reset()
        self.addCleanup(fake.cleanup)
        original = fake.FakeVim.__getattr__

        def answer(vim: typing.Any, method: str) -> typing.Any:
            if method == 'ShutdownGuest':  # The fake does not know it.
                method = 'PowerOffVM_Task'
            do = original(vim, method)
            if not method.endswith('_Task'):
                return do

            def call(*args: typing.Any, **kwargs: typing.Any) -> typing.Any:
                self.asked.append((method, kwargs))
                return do(*args, **kwargs)
            return call

        self.useFixture(fixtures.MockPatchObject(
            fake.FakeVim, '__getattr__', answer))

    def built(self) -> Guest:
        """Return what was asked for since the last look, and forget it."""
        changes = self.reconfigured()
        asked, self.asked[:] = self.asked[:], []
        (config,) = [kwargs['config'] for method, kwargs in asked
                     if method == 'CreateVM_Task']
        devices = [change.device for spec in (config, *changes)
                   for change in getattr(spec, 'deviceChange', None) or ()
                   if change.operation == 'add']
        names = [_name(device) for device in devices]
        (disk,) = [device for device in devices
                   if _name(device) == 'VirtualDisk']
        return Guest(
            config.guestId, getattr(config, 'firmware', None),
            getattr(config, 'numCoresPerSocket', None),
            next((device.videoRamSizeInKB for device in devices
                  if _name(device) == 'VirtualMachineVideoCard'), None),
            [name for name in names if name in CARDS],
            [name for name in names if name in CONTROLLERS],
            bool(getattr(disk.backing, 'parent', None)
                 or not disk.backing.fileName))

    def reconfigured(self) -> list[typing.Any]:
        """Return how guests were changed since the last look."""
        return [kwargs['spec'] for method, kwargs in self.asked
                if method == 'ReconfigVM_Task']

    def disks(self) -> list[typing.Any]:
        """Return the disks that were made since the last look."""
        return [kwargs['spec'] for method, kwargs in self.asked
                if method == 'CreateVirtualDisk_Task']


def _name(device: typing.Any) -> str:
    return getattr(device, 'obj_name', 'ns0:' + type(device).__name__
                   ).removeprefix('ns0:')
