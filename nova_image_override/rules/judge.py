"""The one place where a request's overrides are permitted or refused."""

import collections.abc
import dataclasses
import functools
import logging

from nova_image_override import catalog as catalog_module
from nova_image_override import errors
from nova_image_override import override
from nova_image_override.rules import lists
from nova_image_override.rules import policy

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Caller:
    """Who asks, as far as the rules need to know.

    :ivar can: judges a policy rule for this caller
    :ivar policy_defined: names of the rules that policy.yaml defines
    """

    can: policy.Can
    policy_defined: collections.abc.Container[str] = ()


@dataclasses.dataclass(frozen=True)
class Stand:
    """How the rules stand to one property name, whatever its value.

    :ivar field: canonical field name
    :ivar never: no deployment can permit it
    :ivar denied: entries of ``denied_properties`` that name it
    :ivar allowed: entries of ``allowed_properties`` that name it
    """

    field: str
    never: bool
    denied: tuple[lists.Entry, ...]
    allowed: tuple[lists.Entry, ...]

    def refusal(self, name: str, value: str | None) -> errors.Problem | None:
        """Judge the canonical VALUE by rules 1 to 3: NEVER, denied, allowed.

        Entries with values do not speak of removal (None): they neither deny
        nor allow it.

        :returns: why it is refused, or None
        """
        if self.never:
            return errors.Problem(
                name, errors.NEVER,
                'describes the image itself and can never be overridden')
        for entry in self.denied:
            if entry.matches_value(value):
                return errors.Problem(
                    name, errors.DENIED, 'denied by this cloud'
                    + (f' with the value {errors.printable(value)}'
                       if entry.values and value is not None else ''))
        for entry in self.allowed:
            if entry.matches_value(value):
                return None
        if self.allowed:
            offered = ', '.join(dict.fromkeys(
                v for entry in self.allowed for v in entry.values))
            return errors.Problem(
                name, errors.VALUE_NOT_ALLOWED,
                'this cloud does not allow to remove it, only to set it to '
                f'{offered}' if value is None else
                f'this cloud allows only {offered}')
        return errors.Problem(
            name, errors.NOT_ALLOWED,
            'not among the properties that this cloud allows to override')


class Rules:
    """The deployer's rules, compiled once at start.

    :param catalog: the running Nova's properties
    :param denied: entries of ``denied_properties``
    :param allowed: entries of ``allowed_properties``
    :raises errors.StartupError: a list is malformed
    """

    #: Names whose standing is remembered; only traits are without number.
    CACHE_SIZE = 2048

    def __init__(
        self, catalog: catalog_module.Catalog,
        denied: collections.abc.Iterable[str] = (),
        allowed: collections.abc.Iterable[str] = (),
    ) -> None:
        self.catalog = catalog
        self.denied = lists.PropertyList('denied_properties', denied, catalog)
        self.allowed = lists.PropertyList(
            'allowed_properties', allowed, catalog)
        for checked in (self.denied, self.allowed):
            unknown = checked.unknown_names()
            if unknown:
                LOG.warning(
                    '[image_override] %s: this Nova has no such image '
                    'property, the entry has no effect: %s',
                    checked.option, ', '.join(e.name for e in unknown))
        #: How the rules stand to the property called NAME.
        self.stand = functools.lru_cache(self.CACHE_SIZE)(self._stand)

    def _stand(self, name: str) -> Stand:
        prop = self.catalog.resolve(name)
        return Stand(
            prop.field, prop.never,
            self.denied.matching(name, prop.field),
            self.allowed.matching(name, prop.field))

    def check(
        self, caller: Caller, overrides: override.Overrides,
    ) -> None:
        """Permit OVERRIDES, or refuse them.

        :raises errors.Forbidden: naming every refused property
        """
        stands = {name: self.stand(name) for name in overrides}
        by_policy = policy.refused_by(
            caller.can, caller.policy_defined,
            {stand.field for stand in stands.values()})
        problems = []
        for name, stand in stands.items():
            problem = stand.refusal(name, overrides[name])
            if problem is None and stand.field in by_policy:
                problem = errors.Problem(
                    name, errors.POLICY,
                    f'policy {by_policy[stand.field]} does not permit it')
            if problem is not None:
                problems.append(problem)
        if problems:
            raise errors.Forbidden(problems)
