"""One name of Nova that we use, and whether it has the shape we rely on."""

import collections.abc
import dataclasses
import dis
import inspect
import pkgutil
import typing

from nova_image_override import errors


def unsupported(how: str) -> errors.UnsupportedNova:
    """Return the error for a Nova with a different shape.

    :param how: what is different; continues "This Nova ..."
    """
    return errors.UnsupportedNova(
        f'This Nova {how}: nova-image-override does not support it.')


def resolve(name: str) -> typing.Any:
    """Import what NAME refers to.

    :param name: a module, or ``module:Class`` with attributes if needed
    :raises ImportError: there is no such module
    :raises AttributeError: the module has no such attribute
    """
    return pkgutil.resolve_name(name if ':' in name else f'{name}:')


def verify(interfaces: collections.abc.Iterable['Interface']) -> None:
    """Check interfaces against the running release.

    :raises errors.UnsupportedNova: naming each one that has a different shape
    """
    if REGISTRATION.problem() is None:
        REGISTRATION.get()()
    problems = [problem for interface in interfaces
                if (problem := interface.problem()) is not None]
    if problems:
        raise unsupported('; '.join(problems))


@dataclasses.dataclass(frozen=True)
class Interface:
    """A name of Nova that has to exist.

    :ivar owner: the module, or ``module:Class``
    :ivar name: its attribute
    :ivar image_property: the field of ``ImageMetaProps`` that the name came
        with: a release without the field need not have the name
    """

    owner: str
    name: str
    _: dataclasses.KW_ONLY
    image_property: str | None = None

    def __str__(self) -> str:
        return f'{self.owner}.{self.name}'.replace(':', '.')

    @property
    def expected(self) -> str:
        """What is expected of it, in words."""
        return 'exists'

    @property
    def needed(self) -> bool:
        """Whether the running Nova has to have it."""
        return self.image_property is None or self.image_property in resolve(
            'nova.objects.image_meta:ImageMetaProps').fields

    def problem(self) -> str | None:
        """Return how the running Nova differs.

        :returns: what continues "This Nova ...", or None
        """
        try:
            return self._difference(
                resolve(self.owner)) if self.needed else None
        except ImportError as exc:
            return f'has no {self} ({exc})'
        except AttributeError:
            return f'has no {self}'

    def _difference(self, owner: typing.Any) -> str | None:
        getattr(owner, self.name)
        return None


@dataclasses.dataclass(frozen=True)
class InstanceAttribute(Interface):
    """An attribute that each instance of a class has."""

    @property
    def expected(self) -> str:
        """What is expected of it, in words."""
        return 'each instance has it'

    def _difference(self, owner: typing.Any) -> str | None:
        if not sets(owner, self.name):
            inspect.getattr_static(owner, self.name)
        return None


def sets(owner: type, name: str) -> bool:
    """Return whether the constructor of OWNER, or of a base, sets NAME."""
    constructors = (inspect.unwrap(vars(each)['__init__'])
                    for each in owner.__mro__ if '__init__' in vars(each))
    return any(
        instruction.opname == 'STORE_ATTR' and instruction.argval == name
        for constructor in constructors if inspect.isfunction(constructor)
        for instruction in dis.get_instructions(constructor))


@dataclasses.dataclass(frozen=True)
class Overridden(Interface):
    """A method that a class of ours overrides.

    :ivar parameters: the names of its parameters; with ``...``, the leading
        ones, where ours passes on whatever follows, and after ``...`` those
        that ours takes by name from what follows
    """

    parameters: str

    @property
    def expected(self) -> str:
        """What is expected of it, in words."""
        return f'overridden: ({self.parameters})'

    def _difference(self, owner: typing.Any) -> str | None:
        found = list(_signature(getattr(owner, self.name)).parameters)
        wanted = self.parameters.split(', ')
        leading, by_name = wanted, []
        if '...' in wanted:
            others = wanted.index('...')
            leading, by_name = wanted[:others], wanted[others + 1:]
        same = found[:len(leading)] == leading and (
            '...' in wanted or len(found) == len(leading))
        if same and set(by_name) <= set(found[len(leading):]):
            return None
        return f'has {self}({", ".join(found)}), not ({self.parameters})'


@dataclasses.dataclass(frozen=True)
class Called(Interface):
    """A function, method or class that we call.

    :ivar arguments: the call: the parameter's name for each argument that is
        passed by position (``_`` where releases name it differently), with
        ``=`` after it for each one that is passed by name; without ``self``
    """

    arguments: str

    @property
    def by_position(self) -> list[str]:
        """The parameters that are passed by position."""
        return [each for each in self._each if not each.endswith('=')]

    @property
    def by_name(self) -> list[str]:
        """The parameters that are passed by name."""
        return [each[:-1] for each in self._each if each.endswith('=')]

    @property
    def _each(self) -> list[str]:
        return self.arguments.split(', ') if self.arguments else []

    @property
    def expected(self) -> str:
        """What is expected of it, in words."""
        return f'called: ({self.arguments})'

    def get(self) -> typing.Any:
        """Return it.

        :raises AttributeError: the running Nova does not have it
        """
        return getattr(resolve(self.owner), self.name)

    def _difference(self, owner: typing.Any) -> str | None:
        parameters = list(_signature(
            getattr(owner, self.name)).parameters.values())
        if parameters and parameters[0].name == 'self':
            del parameters[0]
        signature = inspect.Signature(parameters)
        try:
            bound = signature.bind(
                *self.by_position, **dict.fromkeys(self.by_name))
        except TypeError as exc:
            return f'has {self}({_names(signature)}): {exc}'
        misplaced = any(
            value not in (name, '_') for name, value in
            bound.arguments.items() if value in self.by_position)
        if misplaced:
            return f'has {self}({_names(signature)}), not ({self.arguments})'
        return None


def _names(signature: inspect.Signature) -> str:
    return ', '.join(signature.parameters)


def _signature(function: typing.Any) -> inspect.Signature:
    # webob.dec.wsgify keeps what it decorates in "func", and so does the
    # closure of oslo.messaging's expected_exceptions.
    code = getattr(function, '__code__', None)
    if code is not None and 'func' in code.co_freevars and not hasattr(
            function, '__wrapped__'):
        return _signature(inspect.getclosurevars(function).nonlocals['func'])
    return inspect.signature(getattr(function, 'func', function))


@dataclasses.dataclass(frozen=True)
class Shaped(Interface):
    """A value with a shape of its own.

    :ivar shape: the shape, in words
    :ivar has_shape: returns whether a value has it
    """

    shape: str
    has_shape: collections.abc.Callable[[typing.Any], bool]

    @property
    def expected(self) -> str:
        """What is expected of it, in words."""
        return self.shape

    def _difference(self, owner: typing.Any) -> str | None:
        if self.has_shape(getattr(owner, self.name)):
            return None
        return f'has another {self}, not {self.shape}'


#: Called as by every Nova service; before that, nova.objects has no classes.
REGISTRATION = Called('nova.objects', 'register_all', '')


# --- several names of one owner ---------------------------------------------

def names(owner: str, *each: str) -> list[Interface]:
    """Return names of OWNER that have to exist."""
    return [Interface(owner, name) for name in each]


def instance_attributes(owner: str, *each: str) -> list[Interface]:
    """Return attributes that instances of OWNER have to have."""
    return [InstanceAttribute(owner, name) for name in each]


def overridden(owner: str, **methods: str) -> list[Interface]:
    """Return methods of OWNER that we override: name=parameters."""
    return [Overridden(owner, name, parameters)
            for name, parameters in methods.items()]


def called(owner: str, **functions: str) -> list[Interface]:
    """Return functions of OWNER that we call: name=arguments."""
    return [Called(owner, name, arguments)
            for name, arguments in functions.items()]
