"""The audit log of overrides: each change and each refusal.

One line at INFO for each server, which oslo.log prefixes with the request ID,
user and project (``logging_context_format_string``). Values are not logged: a
kernel command line may hold things that not every reader of the log should see.
"""
from __future__ import annotations

import textwrap
from typing import Any

from oslo_log import log as logging
from oslo_utils import uuidutils

from nova_image_override import errors
from nova_image_override.override import Overrides

LOG = logging.getLogger(__name__)

#: Most characters of names in a line, which has at most 4 KiB.
_MOST = 3500


def changed(
    context: Any, how: str, after: Overrides, instance: Any,
) -> None:
    """Log that a server's overrides are now those of AFTER, and HOW."""
    preset = f' (preset {after.preset.name})' if after.values and after.preset \
        else ''
    LOG.info('Image properties overridden %s: %s', how,
             textwrap.shorten(
                 ', '.join(sorted(after.values)) or 'none', _MOST) + preset,
             instance=instance, context=context)


def refused(
    context: Any, error: errors.OverrideError, server_id: str | None,
) -> None:
    """Log why a request, which may name a server, is refused."""
    LOG.info(
        'Image property overrides refused: %s', error.logged,
        instance_uuid=server_id if uuidutils.is_uuid_like(server_id) else None,
        context=context)
