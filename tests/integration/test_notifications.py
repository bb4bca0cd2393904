"""What Nova's notifications say of overrides, as consumers of the broker get
them: one of oslo.messaging, and Ceilometer's agent.
"""

import functools
import threading

from oslo_config import cfg
import oslo_messaging
import pytest

from nova_image_override import metadata_keys
from testing.deployment import ceilometer as ceilometer_module
from testing.deployment import processes
from testing.deployment import settings
from tests.integration import whole

#: Where Nova's services send what they notify of, and in which format.
TOPICS = {'notifications': 'unversioned',
          'versioned_notifications': 'versioned'}

class Consumer:
    """Keeps what Nova's services notify of, as a billing service does."""

    def __init__(self):
        self._lock = threading.Lock()
        self._kept = []

    def info(self, context, publisher, event, payload, metadata):
        """Keep a notification: oslo.messaging calls it."""
        with self._lock:
            self._kept.append((event, payload))

    def of(self, server, event):
        """Return the last payload of EVENT about a server, once it is here."""
        def found():
            with self._lock:
                return [payload for kind, payload in self._kept
                        if kind == event and server in str(payload)]

        return processes.wait_for(found, f'{event} of {server}', 60)[-1]

    def forget(self):
        """Forget what came before."""
        with self._lock:
            self._kept.clear()


@pytest.fixture(scope='module')
def ceilometer(deployment):
    agent = ceilometer_module.Agent(deployment.state)
    agent.up()
    yield agent
    agent.stop()


@pytest.fixture(scope='module')
def consumers(deployment):
    """Format -> consumer, of messages that others may consume too."""
    config = cfg.ConfigOpts()
    config([])
    transport = oslo_messaging.get_notification_transport(
        config, settings.broker(deployment.state))
    consumers = {name: Consumer() for name in TOPICS.values()}
    listeners = [oslo_messaging.get_notification_listener(
        transport, [oslo_messaging.Target(topic=topic, exchange='nova')],
        [consumers[name]], executor='threading', pool='test')
        for topic, name in TOPICS.items()]
    for listener in listeners:
        listener.start()
    yield consumers
    for listener in listeners:
        listener.stop()
        listener.wait()
    transport.cleanup()


@pytest.fixture(scope='module')
def client(deployment):
    return whole.Client(deployment, 'tenant')


def check(image, overrides):
    """Check the properties of a notification, and the record among them."""
    assert {name: image.get(name) for name in overrides} == overrides
    prefixes = {metadata_keys.SET_PREFIX: True,
                metadata_keys.REMOVED_PREFIX: False}
    assert {name: own for name, own in image.items()
            if name.startswith(tuple(prefixes))} == {
        f'{prefix}{name}': whole.OWN.get(name, '')
        for prefix, is_set in prefixes.items()
        for name, value in overrides.items()
        if (value is not None) == is_set}


def test_the_default_format_has_the_overrides_at_create_update_and_rebuild(
        consumers, client, server, whole_image):
    told = functools.partial(consumers['unversioned'].of, server)
    check(told('compute.instance.create.end')['image_meta'], whole.ONE)
    client.do(server, 'os-stop', 'SHUTOFF')
    consumers['unversioned'].forget()
    client.update(server, whole.OTHER, expected=200)
    check(told('compute.instance.update')['image_meta'], whole.OTHER)
    client.rebuild(server, whole_image, whole.ONE)
    client.settled(server, 'SHUTOFF')
    check(told('compute.instance.rebuild.end')['image_meta'], whole.ONE)


def test_ceilometers_samples_have_the_overrides(
        ceilometer, client, server, whole_image):
    def sampled(overrides):
        """Wait for a sample of the server that has them, and check it."""
        def last():
            images = [sample['resource_metadata']['image_meta']
                      for sample in ceilometer.samples()
                      if sample['name'] == 'vcpus'
                      and sample['resource_id'] == server]
            return images and (images[-1].get('hw_video_model')
                               == overrides['hw_video_model']) and images[-1]

        check(processes.wait_for(last, 'a sample', 60), overrides)

    sampled(whole.ONE)
    client.do(server, 'os-stop', 'SHUTOFF')
    client.rebuild(server, whole_image, whole.OTHER)
    client.settled(server, 'SHUTOFF')
    sampled(whole.OTHER)


def test_the_versioned_format_has_no_image_properties(
        consumers, client, server, whole_image):
    told = functools.partial(consumers['versioned'].of, server)
    client.do(server, 'os-stop', 'SHUTOFF')
    client.update(server, whole.OTHER, expected=200)
    client.rebuild(server, whole_image, whole.ONE)
    client.settled(server, 'SHUTOFF')
    for event in ('create.end', 'update', 'rebuild.end'):
        payload = str(told(f'instance.{event}'))
        assert not [name for name in {*whole.ONE, *whole.OTHER, 'os_glance'}
                    if name in payload]
