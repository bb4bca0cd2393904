"""Interfaces of Ironic's fake hardware whose deploy steps record that they ran.

Ironic's own steps that deploy templates may name only do so on real hardware.
What ran is added to the node's ``extra``, as ``steps``.
"""

from ironic.drivers import base
from ironic.drivers.modules import fake


def _ran(task, step):
    extra = dict(task.node.extra)
    extra['steps'] = [*extra.get('steps', []), step]
    task.node.extra = extra
    task.node.save()


class RAID(fake.FakeRAID):
    """Fake RAID."""

    @base.deploy_step(
        priority=0, argsinfo=base.RAID_APPLY_CONFIGURATION_ARGSINFO)
    def apply_configuration(self, task, raid_config, **kwargs):
        """Apply nothing."""
        _ran(task, 'raid')


class BIOS(fake.FakeBIOS):
    """Fake BIOS."""

    @base.deploy_step(priority=0, argsinfo={
        'settings': {'description': 'What to set.', 'required': True}})
    def apply_configuration(self, task, settings):
        """Apply nothing."""
        _ran(task, 'bios')
