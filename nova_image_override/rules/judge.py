"""The one place where a request's overrides are permitted or refused."""

import collections.abc
import dataclasses
import functools
import logging
import typing

from nova_image_override import errors
from nova_image_override import override
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.rules import injection as injection_module
from nova_image_override.rules import lists
from nova_image_override.rules import policy
from nova_image_override.rules import protections as protections_module

LOG = logging.getLogger(__name__)

_NOTHING_INJECTED = injection_module.Injection()
_NOTHING_KEPT: override.Overrides = {}


@dataclasses.dataclass(frozen=True)
class Caller:
    """Who asks, as far as the rules need to know.

    :ivar can: judges a policy rule for this caller
    :ivar policy_defined: names of the rules that policy.yaml defines
    :ivar credentials: who that is in oslo.policy's terms, with the user's own
        roles in lower case and without what a service token adds
    """

    can: policy.Can
    policy_defined: collections.abc.Collection[str] = ()
    credentials: protections_module.Credentials = dataclasses.field(
        default_factory=dict)

    @property
    def roles(self) -> collections.abc.Collection[str]:
        """The user's own roles, in lower case."""
        roles: collections.abc.Collection[str] = self.credentials.get(
            'roles', ())
        return roles


@dataclasses.dataclass(frozen=True)
class Stand:
    """How the rules stand to one property name, whatever its value.

    :ivar field: canonical field name
    :ivar names: the property's name and the legacy names under which Nova
        reads the same; Glance takes them for properties of their own
    :ivar never: no deployment can permit it
    :ivar denied: entries of ``denied_properties`` that name it
    :ivar allowed: entries of ``allowed_properties`` that name it
    """

    field: str
    names: tuple[str, ...]
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
    :param injection: what Glance injects on import
    :param protections: Glance's property protections, if it has any
    :raises errors.StartupError: lists are malformed; one line for each entry
    """

    #: Names whose standing is remembered; only traits are without number.
    CACHE_SIZE = 2048

    def __init__(
        self, catalog: catalog_module.Catalog,
        denied: collections.abc.Iterable[str] = (),
        allowed: collections.abc.Iterable[str] = (),
        injection: injection_module.Injection = _NOTHING_INJECTED,
        protections: protections_module.Protections | None = None,
    ) -> None:
        self.catalog = catalog
        self._merger = override.Merger(catalog)
        self.injection = injection
        self.protections = protections
        self.denied, self.allowed = lists.compiled(catalog, {
            'denied_properties': denied, 'allowed_properties': allowed})
        for checked in (self.denied, self.allowed):
            unknown = checked.unknown_names()
            if unknown:
                LOG.warning(
                    '[image_override] %s: this Nova has no such image '
                    'property, the entry has no effect: %s',
                    checked.option, ', '.join(e.name for e in unknown))
        #: How the rules stand to the property called NAME.
        self.stand = functools.lru_cache(self.CACHE_SIZE)(self._stand)

    @classmethod
    def from_options(
        cls, catalog: catalog_module.Catalog, options: typing.Any,
    ) -> 'Rules':
        """Read the rules that the group ``[image_override]`` names.

        :param options: the group's options
        :raises errors.StartupError: a list or a file of Glance's is wrong
        """
        return cls(
            catalog, options.denied_properties, options.allowed_properties,
            injection_module.load(options.glance_image_import_files),
            protections_module.load(
                options.property_protection_file,
                options.property_protection_rule_format,
                options.property_protection_policy_file)
            if options.property_protection_file else None)

    def _stand(self, name: str) -> Stand:
        prop = self.catalog.resolve(name)
        return Stand(
            prop.field, (name, *prop.legacy_names), prop.never,
            self.denied.matching(name, prop.field),
            self.allowed.matching(name, prop.field))

    def check(
        self, caller: Caller, overrides: override.Overrides,
        base: override.ImageProperties,
        kept: override.Overrides = _NOTHING_KEPT,
    ) -> None:
        """Permit OVERRIDES, or refuse them.

        :param base: the properties of the image, or volume, itself
        :param kept: overrides that the other rules have permitted before, and
            that only rule 5 judges anew, because the image is another one
        :raises errors.Forbidden: naming every refused property
        """
        stands = {name: self.stand(name) for name in overrides}
        by_policy = policy.refused_by(
            caller.can, caller.policy_defined,
            {stand.field for stand in stands.values()})
        injected = self.injection.names(caller.roles)
        problems = []
        for name, stand in stands.items():
            value = overrides[name]
            problem = (
                stand.refusal(name, value)
                or injected_refusal(name, stand, injected)
                or self._protected(name, overrides, caller, base))
            if problem is None and stand.field in by_policy:
                problem = errors.Problem(
                    name, errors.POLICY,
                    f'policy {by_policy[stand.field]} does not permit it')
            if problem is not None:
                problems.append(problem)
        for name in kept:
            problem = self._protected(name, kept, caller, base)
            if problem is not None:
                problems.append(problem)
        if problems:
            raise errors.Forbidden(problems)

    def _protected(
        self, name: str, overrides: override.Overrides, caller: Caller,
        base: override.ImageProperties,
    ) -> errors.Problem | None:
        """Judge one override by rule 5, Glance's property protections."""
        for each, operation in self.needed(name, overrides, base).items():
            if not self.permits(each, operation, caller):
                return errors.Problem(
                    name, errors.PROTECTED,
                    'Glance\'s property protections do not let you '
                    f'{operation} {each}' + self._related(name, each))
        return None

    def _related(self, name: str, each: str) -> str:
        """Say what EACH, which Glance closes, has to do with NAME."""
        if each == name:
            return ''
        how = (f', which is {name} too' if each in self.stand(name).names
               else f', which overriding {name} writes')
        if self.protections is not None and \
                self.protections.section(each) is None:
            how += (': no section of the protections matches it, the operator '
                    f'can add one such as [^{each}$]')
        return how

    def needed(
        self, name: str, overrides: override.Overrides,
        base: override.ImageProperties,
    ) -> dict[str, str]:
        """Return what Glance must permit for the override of NAME.

        Every name of the property is judged as if the override set or removed
        it in the image (Nova reads them as one, Glance does not know that),
        and every other name that the merge writes: it is passed on to
        snapshots. A legacy name that the image lacks, no section matches and
        the merge does not write is left out. Glance closes it to everybody,
        but nobody meant to: the user may set the property under its current
        name all the same.

        :param overrides: all that are merged over BASE together
        :returns: name, as Glance knows it -> operation
        """
        if self.protections is None:
            return {}
        removes = overrides[name] is None
        written = self._merger.written(base, overrides, name)
        result = {}
        for each in dict.fromkeys((*self.stand(name).names, *written)):
            has = base.get(each) is not None
            if (each == name or has or each in written
                    or self.protections.section(each) is not None):
                result[each] = (
                    protections_module.DELETE
                    if removes and each not in written
                    else protections_module.UPDATE if has
                    else protections_module.CREATE)
        return result

    def needed_before(
        self, name: str, value: str | None, own: str | None,
    ) -> collections.abc.Set[tuple[str, str]]:
        """Return what Glance must have permitted for an override in force.

        :param own: the value of the image that it is in force over, as the
            record has it
        :returns: name and operation; what is certain, as the record does not
            say which of the property's names the image had
        """
        return frozenset.intersection(*(
            frozenset(self.needed(name, {name: value}, image).items())
            for image in self._merger.images_with(name, own)))

    def permits(self, name: str, operation: str, caller: Caller) -> bool:
        """Say whether Glance lets CALLER do OPERATION to the property NAME.

        :param name: as Glance knows it, legacy names included
        """
        return self.protections is None or self.protections.permits(
            name, operation, caller.credentials)


def injected_refusal(
    name: str, stand: Stand, injected: collections.abc.Set[str],
) -> errors.Problem | None:
    """Judge one property by rule 4, Glance's injection on import.

    :param injected: the names that Glance injects for the caller
    :returns: why it is refused, or None
    """
    for each in stand.names:
        if each in injected:
            return errors.Problem(
                name, errors.INJECTED,
                'this cloud\'s image service sets '
                + (name if each == name else f'{each}, which is {name} too,')
                + ' on the images that you import')
    return None
