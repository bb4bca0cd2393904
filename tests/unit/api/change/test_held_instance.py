"""A server that an operation of Nova takes only as it has read it."""

from nova import objects
from nova.objects import base

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
