"""The factory that api-paste.ini names.

Imports nothing of Nova, so that what a Nova lacks is logged in one line.
"""

import functools
from typing import Any

from oslo_log import log as logging

from nova_image_override import errors
from nova_image_override.nova_interfaces import api as api_interfaces
from nova_image_override.nova_interfaces import interface

LOG = logging.getLogger(__name__)


class APIRouterV21:
    """Stands for Nova's router of the same name."""

    @classmethod
    def factory(cls, global_config: dict[str, str], **local_config: str) -> Any:
        """Make the application (``paste.app_factory``).

        :raises errors.StartupError: Nova has a different shape, or a rule is
            malformed; nova-api must not start
        """
        try:
            api_interfaces.verify()
            return interface.load('nova_image_override.api.application').make()
        except errors.StartupError as exc:
            for line in str(exc).split('\n'):
                _tell_why(line)
            raise


# uWSGI and mod_wsgi try again in the same process.
@functools.lru_cache
def _tell_why(line: str) -> None:
    """Log why nova-api does not start, once in each process."""
    LOG.critical('nova-image-override: %s', line)
