"""A kind of finding: its code, its severity and its words."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

#: Something is open that ought to be closed, or nova-api does not start.
ERROR = 'error'
#: Something does not do what it seems to do.
WARNING = 'warning'
#: Something to know; it does not affect the exit status.
NOTE = 'note'
SEVERITIES = (ERROR, WARNING, NOTE)

#: The subject of each finding, and the words that its text has room for.
Found = Iterable[tuple[str, dict[str, str]]]


class Finding(NamedTuple):
    """One finding, as a row of the command's table.

    :ivar subject: the property, entry or option that it is about
    :ivar why: the consequence
    :ivar change: how to correct it
    """

    severity: str
    code: str
    subject: str
    why: str
    change: str


class Check(NamedTuple):
    """One kind of finding.

    :ivar code: documented in docs/source/admin/glance.rst
    :ivar find: looks for it in what :meth:`findings` is given
    """

    severity: str
    code: str
    find: Callable[[Any], Found]
    why: str
    change: str

    def findings(self, looked_at: Any) -> Iterator[Finding]:
        """Yield the findings of this kind."""
        for subject, words in self.find(looked_at):
            yield Finding(self.severity, self.code, subject,
                          self.why.format(**words),
                          self.change.format(**words))
