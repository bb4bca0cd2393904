"""Nova's conductor API, the last that nova-api calls for a server."""
from __future__ import annotations

from typing import Any

from nova import conductor
from nova.compute import task_states

from nova_image_override.api import request as request_module
from nova_image_override.api.change import disks
from nova_image_override.api.change import store as store_module
from nova_image_override.nova_interfaces import interface


class ComputeTaskAPI(conductor.ComputeTaskAPI):
    """Stores the rest of a rebuild before it is sent.

    The server's task state is held by then.

    :param store: stores changes
    """

    def __init__(self, store: store_module.Store) -> None:
        super().__init__()
        self._store = store

    @interface.overrides
    def rebuild_instance(
        self, context: Any, instance: Any, *args: Any,
        host: str | None = None, bdms: Any = None, **kwargs: Any,
    ) -> Any:
        """Rebuild a server on its host, with its disks on their bus.

        Without a host the conductor would ask the scheduler again, and look
        for the traits of the image without its overrides
        (ComputeTaskManager._validate_image_traits_for_rebuild).
        """
        operation = request_module.operation_of(context)
        if operation is not None:
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
            operation.is_sent = True
        return super().rebuild_instance(
            context, instance, *args, host=host, bdms=bdms, **kwargs)
