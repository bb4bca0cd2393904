"""The seams of nova-compute."""

from nova.compute import manager
from nova.compute import resource_tracker

from nova_image_override import seams

SEAMS: tuple[seams.Seam, ...] = (
    (manager.ComputeManager, '_do_rebuild_instance_with_claim',
     ('self', 'context', 'instance', 'orig_image_ref', 'image_meta')),
    (manager.ComputeManager, '_get_rescue_image',
     ('self', 'context', 'instance', 'rescue_image_ref')),
    (manager.ComputeManager, 'rescue_instance',
     ('self', 'context', 'instance')),
    (manager.ComputeManager, '_prep_resize',
     ('self', 'context', 'image', 'instance')),
    (manager.ComputeManager, '_finish_snapshot_based_resize_at_dest_spawn',
     ('self', 'ctxt', 'instance', 'migration', 'image_meta')),
    (manager.ComputeManager, '_unshelve_instance',
     ('self', 'context', 'instance', 'image')),
    (resource_tracker.ResourceTracker, '__init__',
     ('self', 'host', 'driver', 'reportclient')),
    (resource_tracker.ResourceTracker, '_copy_resources',
     ('self', 'compute_node', 'resources')),
)


def verify() -> None:
    """Check every seam of nova-compute against the running release.

    :raises nova_image_override.errors.UnsupportedNova: naming the seam that
        has another shape
    """
    seams.verify(SEAMS)
