"""Every Nova name that a module uses, found in its syntax tree.

Follows imports and their attributes, classes of ours that derive from Nova's,
with ``self`` and ``super()`` in them, and variables that are known to hold a
Nova object: by annotation, by what is assigned to them, or by the name that
this package always gives them.
"""

import ast
import dataclasses
import dis
import inspect
import pkgutil
import types

#: What variables of these names hold in this package, annotated or not.
HELD = {
    'answer': 'nova.api.openstack.wsgi.ResponseObject',
    'context': 'nova.context.RequestContext',
    'ctxt': 'nova.context.RequestContext',
    'driver': 'nova.virt.libvirt.driver.LibvirtDriver',
    'flavor': 'nova.objects.Flavor',
    'image_meta': 'nova.objects.ImageMeta',
    'cell': 'nova.objects.InstanceNUMACell',
    'instance': 'nova.objects.Instance',
    'map': 'nova.api.openstack.ProjectMapper',
    'merged': 'nova.objects.ImageMeta',
    'newest': 'nova.api.openstack.api_version_request.APIVersionRequest',
    'node': 'nova.objects.ComputeNode',
    'oldest': 'nova.api.openstack.api_version_request.APIVersionRequest',
    'own': 'nova.objects.ImageMetaProps',
    'props': 'nova.objects.image_meta.ImageMetaProps',
    'placement': 'nova.scheduler.client.report.SchedulerReportClient',
    'req': 'nova.api.openstack.wsgi.Request',
    'group': 'nova.objects.RequestGroup',
    'scheduler_client':
        'nova.scheduler.client.query.SchedulerQueryClient',
    'spec': 'nova.objects.RequestSpec',
    'topology': 'nova.objects.InstanceNUMATopology',
}


@dataclasses.dataclass(frozen=True)
class Use:
    """One use of a Nova name.

    :ivar call: number of positional arguments and names of keyword arguments;
        None if it is not called, or is called with arguments passed on
    """

    name: str
    line: int
    overridden: bool = False
    call: tuple[int, frozenset[str]] | None = None


def of_nova(module):
    return module == 'nova' or module.startswith('nova.')


def resolved(name):
    """Return what NAME is; None for what only instances have."""
    if name.startswith('nova.cmd.'):
        # Importing it chooses between native threads and eventlet.
        return types.ModuleType(name) if name.count('.') == 2 else None
    try:
        return pkgutil.resolve_name(name)
    except AttributeError:
        return None


def _stores(cls, name):
    constructor = inspect.unwrap(vars(cls).get('__init__', object))
    return inspect.isfunction(constructor) and any(
        each.opname == 'STORE_ATTR' and each.argval == name
        for each in dis.get_instructions(constructor))


def origin(cls, name):
    """Return the class that gives instances of CLS the attribute NAME."""
    for each in cls.__mro__:
        if each is not object and (name in vars(each) or _stores(each, name)):
            return each
    return None


def _all_nova(cls):
    return all(of_nova(each.__module__) for each in cls.__mro__[:-1])


class Finder(ast.NodeVisitor):
    """Collects the uses in one module."""

    def __init__(self):
        self.uses = []
        #: Unknown names: attributes that Nova's class does not have.
        self.unknown = []
        self._names = {}
        self._types = {}
        self._class = None
        self._own = set()

    # --- what an expression is --------------------------------------------

    def _name(self, node):
        """Return the dotted Nova name that NODE is, or None."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id)
        if not isinstance(node, ast.Attribute):
            return None
        owner = self._name(node.value)
        if owner is not None:
            thing = resolved(owner)
            if isinstance(thing, types.ModuleType):
                return f'{owner}.{node.attr}'
            if isinstance(thing, type):
                return self._member(owner, node)
        owner = self._type(node.value)
        return None if owner is None else self._member(owner, node)

    def _member(self, owner, node):
        if node.attr.startswith('__') and node.attr != '__init__':
            return None
        source = origin(resolved(owner), node.attr)
        if source is None:
            if _all_nova(resolved(owner)) and not (
                    owner == self._class and node.attr in self._own):
                self.unknown.append((node.lineno, f'{owner}.{node.attr}'))
            return None
        return f'{owner}.{node.attr}' if of_nova(source.__module__) else None

    def _type(self, node):
        """Return the dotted name of the Nova class of NODE, or None."""
        match node:
            case ast.Name('self'):
                return self._class
            case ast.Call(ast.Name('super')):
                return self._class
            case ast.Name(name) if name in self._types:
                return self._types[name]
            case ast.Name(name) | ast.Attribute(attr=name):
                return HELD.get(name.lstrip('_'))
            case ast.Call(function):
                return self._made(self._name(function))
        return None

    def _made(self, name):
        """Return the class of the object that a call of NAME makes."""
        if name is None:
            return None
        thing = resolved(name)
        if isinstance(thing, type):
            return name
        if inspect.ismethod(thing) and isinstance(thing.__self__, type):
            return name.rpartition('.')[0]
        return None

    def _annotated(self, annotation):
        """Return the class that an annotation names, or None."""
        match annotation:
            case ast.Subscript(ast.Name('type'), inner):
                return self._annotated(inner)
            case ast.Name() | ast.Attribute():
                name = self._name(annotation)
                if name is not None and isinstance(resolved(name), type):
                    return name
        return None

    # --- where names come from --------------------------------------------

    def visit_Import(self, node):
        for each in node.names:
            if of_nova(each.name):
                self._names[each.asname or 'nova'] = (
                    each.name if each.asname else 'nova')

    def visit_ImportFrom(self, node):
        if of_nova(node.module or ''):
            for each in node.names:
                self._names[each.asname or each.name] = (
                    f'{node.module}.{each.name}')

    def visit_ClassDef(self, node):
        before = self._class, self._own
        for base in node.bases:
            self._class = self._name(base) or self._types.get(
                getattr(base, 'id', None)) or before[0]
        if self._class != before[0]:
            self._own = {
                each.name for each in node.body
                if isinstance(each, ast.FunctionDef)} | {
                each.attr for each in ast.walk(node)
                if isinstance(each, ast.Attribute)
                and isinstance(each.ctx, ast.Store)
                and isinstance(each.value, ast.Name)
                and each.value.id == 'self'}
            for each in node.body:
                if isinstance(each, ast.FunctionDef):
                    self._override(each.name, each.lineno)
                elif isinstance(each, ast.Assign):
                    self._override(each.targets[0].id, each.lineno, False)
        elif before[0] is None or node.bases == []:
            self._class, self._own = None, set()
        self.generic_visit(node)
        self._class, self._own = before

    def _override(self, name, line, method=True):
        source = origin(resolved(self._class), name)
        if source is not None and of_nova(source.__module__):
            self.uses.append(Use(f'{self._class}.{name}', line, method))

    def visit_FunctionDef(self, node):
        before = dict(self._types)
        for each in ast.walk(node.args):
            if isinstance(each, ast.arg):
                name = self._annotated(each.annotation)
                if name is not None:
                    self._types[each.arg] = name
        self.generic_visit(node)
        self._types = before

    def visit_Assign(self, node):
        name = self._type(node.value)
        match node.targets:
            case [ast.Name(target)] if isinstance(node.value, ast.Call):
                if name is not None:
                    self._types[target] = name
                else:
                    self._types.pop(target, None)
        self.generic_visit(node)

    def visit_AnnAssign(self, node):
        name = self._annotated(node.annotation)
        if name is not None and isinstance(node.target, ast.Name):
            self._types[node.target.id] = name
        self.generic_visit(node)

    def visit_ExceptHandler(self, node):
        name = self._annotated(node.type)
        if name is not None and node.name:
            self._types[node.name] = name
        self.generic_visit(node)

    # --- uses --------------------------------------------------------------

    def visit_Call(self, node):
        name = self._name(node.func)
        if name is not None:
            passed_on = any(
                isinstance(each, ast.Starred) for each in node.args) or any(
                each.arg is None for each in node.keywords)
            # Called on a class: Base.method(self, argument).
            arguments = [each for each in node.args
                         if not isinstance(each, ast.Name)
                         or each.id != 'self']
            self.uses.append(Use(
                name, node.lineno, call=None if passed_on else (
                    len(arguments),
                    frozenset(each.arg for each in node.keywords))))
        self.generic_visit(node)

    def visit_Attribute(self, node):
        name = self._name(node)
        if name is not None and not isinstance(
                resolved(name), types.ModuleType):
            self.uses.append(Use(name, node.lineno))
        self.generic_visit(node)

    def visit_Name(self, node):
        name = self._names.get(node.id)
        if name is not None and not isinstance(
                resolved(name), types.ModuleType):
            self.uses.append(Use(name, node.lineno))


def found(source):
    """Return the uses in the text SOURCE, and the unknown names."""
    finder = Finder()
    finder.visit(ast.parse(source))
    return finder.uses, finder.unknown
