"""What ``nova-image-override check`` finds."""

from typing import NamedTuple

#: Something is open that ought to be closed, or nova-api does not start.
ERROR = 'error'
#: Something does not do what it seems to do.
WARNING = 'warning'
#: Something to know; it does not affect the exit status.
NOTE = 'note'
SEVERITIES = (ERROR, WARNING, NOTE)


class Finding(NamedTuple):
    """One finding, as a row of the command's table.

    :ivar code: its kind, documented in docs/source/admin/findings.rst
    :ivar subject: the property, entry or option that it is about
    :ivar why: the consequence
    :ivar change: how to correct it
    """

    severity: str
    code: str
    subject: str
    why: str
    change: str
