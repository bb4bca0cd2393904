"""A cloud whose scheduler isolates images of some properties."""

from nova.scheduler.client import query

from testing.harness import base

SCHEDULER = f'{query.__name__}.SchedulerQueryClient.select_destinations'


class Cloud(base.Cloud):
    EXTENDED_HOSTS = ('compute1',)
    ADDITIONAL_FILTERS = [
        *base.Cloud.ADDITIONAL_FILTERS, 'AggregateImagePropertiesIsolation']

    def state(self, server):
        """Return everything that a refusal must leave as it was."""
        instance = self.instance(server)
        return {
            'image': instance.image_ref,
            'system metadata': dict(instance.system_metadata),
            'request spec': self.request_spec(server),
            'guest': self.built[server],
            'shown': self.show(server)[base.PARAMETER],
            'state': (instance.vm_state, instance.task_state)}

    def assert_refused_unchanged(
            self, server, status, problems, overrides=None, **kwargs):
        """Assert a refusal that leaves the server as it was, and usable."""
        before = self.state(server)
        answer = self.rebuild(server, overrides, **kwargs).expect(
            status, problems)
        assert self.state(server) == before
        self.hard_reboot(server)
        return answer

    def scheduled(self):
        """Return a list that grows with each request to the scheduler."""
        asked = []
        original = query.SchedulerQueryClient.select_destinations

        def select_destinations(client, context, spec, *args, **kwargs):
            asked.append(spec.instance_uuid)
            return original(client, context, spec, *args, **kwargs)

        self.useFixture(base.fixtures.MonkeyPatch(
            SCHEDULER, select_destinations))
        return asked
