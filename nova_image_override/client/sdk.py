"""openstacksdk's vendor hook, ``nova_image_override.client.sdk:load``.

openstacksdk only warns when a hook cannot be imported or fails with one of
the usual errors (openstack/connection.py Connection.__init__), and a call
that names overrides would then create a server without them. So this module
imports nothing that could be missing, and a failure stops the connection.
"""

from collections.abc import Callable
import functools
from typing import Any


class HookFailed(RuntimeError):
    """The hook does not fit this openstacksdk."""


def load(conn: Any) -> None:
    """Add image property overrides to a connection.

    ``conn.compute`` becomes
    :class:`nova_image_override.client.sdk_proxy.Proxy`; openstacksdk adds
    services to the class, so other connections in the process get it too,
    which has no effect where a cloud lacks the extension. The cloud layer's
    ``conn.create_server`` and ``conn.rebuild_server`` take
    ``image_props_override`` and ``image_props_override_preset`` as well.

    :param conn: an ``openstack.connection.Connection``
    :raises HookFailed: openstacksdk has a different shape
    """
    try:
        from nova_image_override.client import sdk_proxy
        from nova_image_override.client import transport
        conn.add_service(sdk_proxy.Service(service_type='compute'))
        for name, action in (('create_server', transport.CREATE),
                             ('rebuild_server', transport.REBUILD)):
            setattr(conn, name, _cloud_layer(conn, getattr(conn, name), action))
    except (AttributeError, ImportError, TypeError) as exc:
        raise HookFailed(
            'nova-image-override does not fit this openstacksdk, take '
            f'vendor_hook out of clouds.yaml to go without: {exc}') from exc


def _cloud_layer(
    conn: Any, original: Callable[..., Any], action: Any,
) -> Callable[..., Any]:
    """Let a method of the cloud layer take overrides.

    Its decorators refuse unknown arguments
    (openstack/cloud/_utils.py valid_kwargs).
    """
    @functools.wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:
        return conn.compute.image_props_overriding(
            action, original, *args, **kwargs)

    return method
