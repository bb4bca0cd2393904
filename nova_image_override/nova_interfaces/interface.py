"""One name of Nova that we use, why, and whether it has its shape.

Where Nova lacks one, or it has another shape, errors.UnsupportedNova says so.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
import dataclasses
import importlib
import inspect
import pkgutil
from typing import Any, TypeVar

from nova_image_override import errors


def unsupported(how: str) -> errors.UnsupportedNova:
    """Return the error for a Nova with a different shape.

    :param how: the difference; continues "This Nova ..."
    """
    return errors.UnsupportedNova(
        f'This Nova {how}: nova-image-override does not support it.')


def resolve(name: str) -> Any:
    """Import what NAME refers to.

    :param name: a module, or ``module:Class`` with attributes if needed
    :raises ImportError: there is no such module
    :raises AttributeError: the module has no such attribute
    """
    return pkgutil.resolve_name(name if ':' in name else f'{name}:')


def verify(*lists: Iterable[Interface]) -> None:
    """Check lists of interfaces against the running release.

    :raises errors.UnsupportedNova: naming each one that has a different shape
    """
    if REGISTRATION.problem() is None:
        REGISTRATION.get()()
    _refuse(each.problem() for names in lists for each in names)


def _refuse(problems: Iterable[str | None]) -> None:
    if found := '; '.join(filter(None, problems)):
        raise unsupported(found)


@dataclasses.dataclass(frozen=True)
class Interface:
    """An attribute of one of Nova's modules or classes.

    :ivar owner: the module, or ``module:Class``
    :ivar why: our use of it
    :ivar shape: the shape that it must have, in words
    """

    owner: str
    name: str
    why: str
    shape: str

    def __str__(self) -> str:
        return f'{self.owner}.{self.name}'.replace(':', '.')

    @property
    def needed(self) -> bool:
        """True if the running Nova has to have it."""
        return True

    def problem(self) -> str | None:
        """Return how the running Nova differs: the end of "This Nova ..."."""
        if not self.needed:
            return None
        try:
            owner = resolve(self.owner)
        except (ImportError, AttributeError) as exc:
            return f'has no {self} ({exc})'
        try:
            return self._difference(owner)
        except AttributeError:
            return f'has no {self}'

    def _difference(self, owner: Any) -> str | None:
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Called(Interface):
    """A function, method or class that we call.

    :ivar shape: the call: the parameter's name for each argument that is
        passed by position (``_`` where releases name it differently), with
        ``=`` after it for each one that is passed by name; without ``self``
    :ivar image_properties: the fields of ``ImageMetaProps`` that the function
        is about: a release with none of them need not have it
    :ivar formerly: what some supported releases call it
    """

    image_properties: tuple[str, ...] = ()
    formerly: str = ''

    @property
    def needed(self) -> bool:
        """True if the running Nova has to have it."""
        return not self.image_properties or any(
            each in resolve('nova.objects.image_meta:ImageMetaProps').fields
            for each in self.image_properties)

    def get(self) -> Any:
        """Return it from the running Nova."""
        owner = resolve(self.owner)
        return getattr(owner, self._name_in(owner))

    def _name_in(self, owner: Any) -> str:
        has_another = self.formerly and not hasattr(owner, self.name)
        return self.formerly if has_another else self.name

    def _difference(self, owner: Any) -> str | None:
        called = dataclasses.replace(self, name=self._name_in(owner))
        parameters = list(_signature(
            getattr(owner, called.name)).parameters.values())
        if parameters and parameters[0].name == 'self':
            del parameters[0]
        signature = inspect.Signature(parameters)
        passed = self.shape.split(', ') if self.shape else []
        by_position = [each for each in passed if not each.endswith('=')]
        try:
            bound = signature.bind(*by_position, **{
                each[:-1]: None for each in passed if each.endswith('=')})
        except TypeError as exc:
            return f'has {called}({_names(signature)}): {exc}'
        if any(value not in (name, '_')
               for name, value in bound.arguments.items()
               if value in by_position):
            return f'has {called}({_names(signature)}), not ({self.shape})'
        return None


def _names(signature: inspect.Signature) -> str:
    return ', '.join(signature.parameters)


def _signature(function: Any) -> inspect.Signature:
    return inspect.signature(_undecorated(function))


def _undecorated(function: Any) -> Any:
    # webob.dec.wsgify keeps what it decorates in "func".
    return getattr(function, 'func', function)


@dataclasses.dataclass(frozen=True)
class Shaped(Interface):
    """A value with a shape of its own."""

    has_shape: Callable[[Any], bool]

    def _difference(self, owner: Any) -> str | None:
        if self.has_shape(getattr(owner, self.name)):
            return None
        return f'has another {self}, not {self.shape}'


# --- methods that override Nova's --------------------------------------------

_Method = TypeVar('_Method', bound=Callable[..., object])

#: The mark of a method that overrides one of Nova's.
_MARK = '__overrides_nova__'


def overrides(method: _Method) -> _Method:
    """Declare that METHOD overrides one of Nova's; its docstring says why.

    Its own parameters are what Nova's method is compared with at start: the
    same names in the same order, up to ``*args``; those that follow ``*args``,
    by name; and no others, unless METHOD passes them on.
    """
    setattr(method, _MARK, True)
    return method


def classes(package: str) -> Iterator[type]:
    """Yield each class of PACKAGE's modules.

    :raises errors.UnsupportedNova: a module uses something that Nova does not
        have
    """
    for module in pkgutil.walk_packages(load(package).__path__, f'{package}.'):
        for value in vars(load(module.name)).values():
            if inspect.isclass(value) and value.__module__ == module.name:
                yield value


def overridden(owner: type) -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield name and function of each method that OWNER declares so."""
    for name, value in vars(owner).items():
        if getattr(value, _MARK, False):
            yield name, _undecorated(value)


def base_of(owner: type) -> type:
    """Return the class of Nova that OWNER, a class of ours, extends."""
    return next(each for each in owner.__mro__
                if each.__module__.startswith('nova.'))


def verify_overridden(owners: Iterable[type]) -> None:
    """Compare the methods of Nova that OWNERS override with theirs.

    :raises errors.UnsupportedNova: naming each one that has a different shape
    """
    _refuse(_override_problem(base_of(owner), name, _signature(function))
            for owner in owners for name, function in overridden(owner))


def _override_problem(
    base: type, name: str, ours: inspect.Signature,
) -> str | None:
    full = f'{base.__module__}.{base.__qualname__}.{name}'
    if not hasattr(base, name):
        return f'has no {full}'
    found = list(_signature(getattr(base, name)).parameters)
    if isinstance(inspect.getattr_static(base, name), staticmethod):
        found.insert(0, 'self')
    kinds = {each.name: each.kind for each in ours.parameters.values()}
    leading = [each for each, kind in kinds.items()
               if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    by_name = [each for each, kind in kinds.items()
               if kind is inspect.Parameter.KEYWORD_ONLY]
    passes_on = inspect.Parameter.VAR_POSITIONAL in kinds.values() or (
        inspect.Parameter.VAR_KEYWORD in kinds.values())
    rest = found[len(leading):]
    if found[:len(leading)] == leading and {*by_name} <= {*rest} and (
            passes_on or {*rest} == {*by_name}):
        return None
    return f'has {full}({", ".join(found)}), not ({_names(ours)})'


def require(owner: object, *names: str) -> None:
    """Require attributes that one of Nova's constructors has set.

    :raises errors.UnsupportedNova: naming those that it has not
    """
    missing = [name for name in names if not hasattr(owner, name)]
    if missing:
        raise unsupported(f'gives {base_of(type(owner)).__qualname__} no '
                          + ', '.join(missing))


def load(module: str) -> Any:
    """Import one of our modules that uses Nova.

    :raises errors.UnsupportedNova: it uses something that Nova does not have
    """
    try:
        return importlib.import_module(module)
    except (ImportError, AttributeError) as exc:
        raise unsupported(f'lacks something ({exc})') from exc


REGISTRATION = Called(
    'nova.objects', 'register_all',
    'As in every Nova service: before that, nova.objects has no classes.', '')


def called(owner: str, why: str, /, **functions: str) -> list[Interface]:
    """Return functions of OWNER that we call: name=arguments."""
    return [Called(owner, name, why, arguments)
            for name, arguments in functions.items()]
