"""The resource tracker that tells nova-api that this host keeps overrides."""

from typing import Any

from nova.compute import resource_tracker

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.nova_interfaces import interface


class ResourceTracker(resource_tracker.ResourceTracker):
    """Nova's resource tracker, with one more entry in the stats.

    Stats are rewritten whenever nova-compute starts, so the entry goes away
    with the compute part.
    """

    @interface.overrides
    def _copy_resources(
        self, compute_node: Any, resources: dict[str, Any],
        *args: Any, **kwargs: Any,
    ) -> Any:
        stats = {**(resources.get('stats') or {}),
                 errors.PARAMETER: str(versions.COMPUTE_PART)}
        return super()._copy_resources(
            compute_node, {**resources, 'stats': stats}, *args, **kwargs)
