"""Nova's conductor API, the last that nova-api calls for a server."""

from typing import Any

from nova import conductor
from nova.compute import task_states
from oslo_utils import excutils

from nova_image_override import errors
from nova_image_override.api import audit
from nova_image_override.api import request as request_module
from nova_image_override.api.change import disks
from nova_image_override.api.change import store as store_module
from nova_image_override.nova_interfaces import interface


class ComputeTaskAPI(conductor.ComputeTaskAPI):
    """Goes on with a server only if it is still what was checked.

    The server's task state is held by then, and nothing has been sent yet.

    :param store: stores changes
    """

    def __init__(self, store: store_module.Store) -> None:
        super().__init__()
        self._store = store

    @interface.overrides
    def rebuild_instance(
        self, context: Any, instance: Any, *args: Any, orig_sys_metadata: Any,
        host: str | None = None, bdms: Any = None, **kwargs: Any,
    ) -> Any:
        """Rebuild a server on its host, with its disks on their bus.

        Without a host the conductor would ask the scheduler again, and look
        for the traits of the image without its overrides
        (ComputeTaskManager._validate_image_traits_for_rebuild).
        """
        operation = request_module.operation_of(context)
        if operation is not None:
            operation.require_unchanged(orig_sys_metadata)
            planned = operation.rebuild
            if planned is None and operation.change.names:
                raise interface.unsupported(
                    'rebuilds past API._get_image, where overrides are merged')
            if planned is not None:
                operation.places = disks.places(instance)
                self._store.finish(
                    instance, task_states.REBUILDING, task_states.REBUILDING,
                    image=planned.image)
                host = instance.host
                bdms = instance.get_bdms()
                audit.changed(context, audit.BY_REBUILD,
                              planned.plan.change.after, instance)
            operation.is_sent = True
        return super().rebuild_instance(
            context, instance, *args, orig_sys_metadata=orig_sys_metadata,
            host=host, bdms=bdms, **kwargs)

    @interface.overrides
    def resize_instance(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Resize a server whose overrides have not changed meanwhile."""
        self._require_unchanged(context, instance)
        return super().resize_instance(context, instance, *args, **kwargs)

    @interface.overrides
    def unshelve_instance(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Unshelve a server whose overrides have not changed meanwhile."""
        self._require_unchanged(context, instance)
        return super().unshelve_instance(context, instance, *args, **kwargs)

    def _require_unchanged(self, context: Any, instance: Any) -> None:
        operation = request_module.operation_of(context)
        if operation is None:
            return
        # The row that Nova has read may be older than the state that it set:
        # its transaction reads first.
        present = store_module.stored(instance) if operation.change.before \
            else instance
        try:
            operation.require_unchanged(present.system_metadata)
        except errors.Conflict:
            with excutils.save_and_reraise_exception():
                self._store.give_way(instance, operation.before)
        operation.is_sent = True
