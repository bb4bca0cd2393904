"""Who asks for overrides, as far as the rules need to know."""

import collections.abc
import dataclasses
import typing

#: Returns whether the caller passes a policy rule.
Can = collections.abc.Callable[[str], bool]

#: Who asks: what oslo.policy calls credentials, with "roles" in lower case, as
#: Glance's middleware makes them (glance/api/middleware/context.py).
Credentials = collections.abc.Mapping[str, typing.Any]


@dataclasses.dataclass(frozen=True)
class Caller:
    """Who makes a request.

    :ivar can: checks a policy rule for this caller
    :ivar policy_defined: names of the rules that policy.yaml defines
    :ivar credentials: who the caller is in oslo.policy's terms, with the
        user's own roles in lower case and without what a service token adds
    """

    can: Can
    policy_defined: collections.abc.Collection[str] = ()
    credentials: Credentials = dataclasses.field(default_factory=dict)

    @property
    def roles(self) -> collections.abc.Collection[str]:
        """The user's own roles, in lower case."""
        roles: collections.abc.Collection[str] = self.credentials.get(
            'roles', ())
        return roles
