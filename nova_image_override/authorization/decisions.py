"""What one rule decides about the override of one property."""

import dataclasses
import enum

from nova_image_override import errors

#: Names of the rules, in the order in which they are asked.
NEVER = 'never'
DENIED = 'denied_properties'
ALLOWED = 'allowed_properties'
INJECTION = 'injection'
PROTECTIONS = 'protections'
POLICY = 'policy'


class AnyValue(enum.Enum):
    """Stands for a value that is not known."""

    ANY = 'any value'


#: What an override is to do: a canonical value, or None to remove the property.
Value = str | None | AnyValue


@dataclasses.dataclass(frozen=True)
class Source:
    """Where a rule is: in this package, or in the files of a deployment.

    :ivar rule: one of the names of rules
    :ivar name: the entry, the section of Glance's file, or the name of a
        policy; '' where there is none
    :ivar key: what to look for in the section
    """

    rule: str
    name: str = ''
    key: str = ''


@dataclasses.dataclass(frozen=True)
class Decision:
    """What one rule decides.

    :ivar rule: the rule, with what it is asked for if it is asked more than
        once
    :ivar permits: whether it permits the override
    :ivar source: where the rule is
    :ivar code: why not, for programs: one of the codes of
        :mod:`nova_image_override.errors`
    :ivar reason: why not, for the caller
    :ivar detail: what led to the decision, for the operator
    :ivar operation: what Glance's protections were asked for
    """

    rule: str
    permits: bool
    source: Source
    code: str = ''
    reason: str = ''
    detail: str = ''
    operation: str = ''

    def problem(self, name: str) -> errors.Problem:
        """Return the refusal of the property called NAME."""
        return errors.Problem(name, self.code, self.reason)
