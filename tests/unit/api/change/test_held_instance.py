"""A server that an operation of Nova takes only as it has read it."""

import datetime

from nova import objects
from nova.objects import base
from oslo_utils import timeutils
import pytest

from nova_image_override.api.change import held_instance


def held():
    return held_instance.Instance.of(
        objects.Instance(uuid='u', system_metadata={}))


def test_other_services_read_it_as_novas_instance():
    """They know no class by another name (UnsupportedObjectError)."""
    serializer = base.NovaObjectSerializer()
    sent = serializer.serialize_entity(None, held())
    received = serializer.deserialize_entity(None, sent)
    assert type(received) is objects.Instance
    assert received.uuid == 'u'


def test_nova_makes_its_own_instances_as_before():
    assert objects.Instance is not held_instance.Instance
    assert type(held()) is held_instance.Instance
    assert base.NovaObject.obj_class_from_name(
        'Instance', objects.Instance.VERSION) is objects.Instance


# --- a resize that is ending --------------------------------------------------

@pytest.mark.parametrize(('old_flavor', 'key', 'seconds', 'is_ending'), [
    (None, 'old_vm_state', 0, True),
    (None, 'old_vm_state', 9, True),
    # The key may stay for ever.
    (None, 'old_vm_state', 20, False),
    (None, 'image_os_type', 0, False),
    (objects.Flavor(), 'image_os_type', 20, True)])
def test_a_host_saves_a_server_once_more_after_a_resize(
        old_flavor, key, seconds, is_ending):
    server = objects.Instance(
        old_flavor=old_flavor, system_metadata={key: 'x'},
        updated_at=timeutils.utcnow(with_timezone=True)
        - datetime.timedelta(seconds=seconds))
    assert held_instance.is_resize_ending(server) == is_ending
