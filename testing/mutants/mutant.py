"""The mutants of a module: the same code with one small change in it.

Sentences are left alone, as are annotations and docstrings: what a refusal says
is compared elsewhere (tests/unit/api/guest/test_law.py).
"""

from __future__ import annotations

import ast
import collections
import collections.abc
import copy
import dataclasses
import functools
import pathlib
import types

_OPPOSITE: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Lt: ast.GtE, ast.GtE: ast.Lt,
    ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}

#: The same with the limit itself on the other side.
_BY_ONE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change of one module.

    :ivar path: the module's file
    :ivar function: the function or class that the change is in
    :ivar change: the source text before and after; what a person knows it by
    :ivar first: first line of the statement, or of its head
    :ivar last: last line of it
    :ivar number: which of the module's mutants it is
    """

    path: str
    function: str
    change: str
    first: int
    last: int
    number: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies it while other lines of the file change."""
        return self.path, self.function, self.change


def _other(node: ast.AST, **fields: object) -> ast.AST:
    result = copy.copy(node)
    vars(result).update(fields)
    return result


def _constant(node: ast.Constant) -> collections.abc.Iterator[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        yield _other(node, value=not value)
    elif isinstance(value, int):
        yield _other(node, value=value + 1)
    elif isinstance(value, str) and ' ' not in value:
        yield _other(node, value=value + 'X' if value else 'X')


def _changed(node: ast.AST) -> collections.abc.Iterator[ast.AST]:
    """Yield what may take the place of an expression or a statement."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for table in (_OPPOSITE, _BY_ONE):
            if other := table.get(type(node.ops[0])):
                yield _other(node, ops=[other()])
    elif isinstance(node, ast.BoolOp):
        yield _other(node, op=_OPPOSITE[type(node.op)]())
        for index in range(len(node.values)):
            left = [*node.values[:index], *node.values[index + 1:]]
            yield left[0] if len(left) == 1 else _other(node, values=left)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPPOSITE:
        yield _other(node, op=_OPPOSITE[type(node.op)]())
    elif isinstance(node, ast.Constant):
        yield from _constant(node)
    elif isinstance(node, ast.Return) and node.value and not (
            isinstance(node.value, ast.Constant)):
        yield _other(node, value=ast.Constant(None))
    elif isinstance(node, (ast.Raise, ast.Continue, ast.Break, ast.Expr)):
        yield ast.Pass()


def _conditions(node: ast.AST) -> list[ast.expr]:
    """Return the conditions of a node that are neither compared nor joined."""
    found = [node.test] if isinstance(
        node, (ast.If, ast.IfExp, ast.While)) else getattr(node, 'ifs', [])
    return [each for each in found if not (
        isinstance(each, (ast.Compare, ast.BoolOp))
        or (isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.Not)))]


def _decides(node: ast.AST) -> bool:
    """Return whether a node is more than a docstring, an import or a log."""
    return not (isinstance(node, (ast.Import, ast.ImportFrom)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ) or (isinstance(node, ast.Call) and ast.unparse(node.func).startswith(
        'LOG.')))


class _Changes:
    """Finds what can change in a tree, in an order that is always the same."""

    def __init__(self, source: str) -> None:
        self.tree = ast.parse(source)
        #: (function, statement, node, other node, owner, field, index)
        self.found: list[tuple[
            str, ast.AST, ast.AST, ast.AST, ast.AST, str, int | None]] = []
        self._visit(self.tree, '', None)

    def _visit(self, owner: ast.AST, function: str,
               statement: ast.AST | None) -> None:
        for field, value in ast.iter_fields(owner):
            if field in ('annotation', 'returns', 'decorator_list'):
                continue
            is_many = isinstance(value, list)
            for index, node in enumerate(value if is_many else [value]):
                if not isinstance(node, ast.AST) or not _decides(node):
                    continue
                inner = statement
                if isinstance(node, (ast.stmt, ast.ExceptHandler)):
                    inner = node
                others = [*_changed(node)]
                if node in _conditions(owner):
                    others.append(ast.UnaryOp(ast.Not(), node))
                self.found += [
                    (function, inner, node, other, owner, field,
                     index if is_many else None) for other in others if inner]
                if not isinstance(node, ast.JoinedStr):
                    named = isinstance(node, (ast.FunctionDef, ast.ClassDef))
                    self._visit(node, '.'.join(
                        filter(None, (function, node.name))) if named
                        else function, inner)

    def make(self, number: int) -> ast.Module:
        """Return the tree with one of the changes made."""
        _, _, node, other, owner, field, index = self.found[number]
        ast.copy_location(other, node)
        if index is None:
            setattr(owner, field, other)
        else:
            getattr(owner, field)[index] = other
        return ast.fix_missing_locations(self.tree)


def _head(node: ast.AST) -> tuple[int, int]:
    """Return the lines of a statement without those of its body."""
    last = node.end_lineno
    if body := getattr(node, 'body', None):
        last = max(node.lineno, min(last, body[0].lineno - 1))
    return node.lineno, last


@functools.cache
def mutants(path: pathlib.Path, root: pathlib.Path) -> tuple[Mutant, ...]:
    """Return all mutants of a module."""
    seen: collections.Counter[tuple[str, str]] = collections.Counter()
    result = []
    for number, (function, statement, node, other, *_) in enumerate(
            _Changes(path.read_text()).found):
        change = f'{_text(node)} → {_text(other)}'
        seen[function, change] += 1
        if (count := seen[function, change]) > 1:
            change += f' ({count})'
        result.append(Mutant(
            str(path.relative_to(root)), function, change, *_head(statement),
            number))
    return tuple(result)


def _text(node: ast.AST) -> str:
    return ' '.join(ast.unparse(node).split())


def compiled(mutant: Mutant, root: pathlib.Path) -> types.CodeType:
    """Return the code of the module that has the mutant in it."""
    path = root / mutant.path
    tree = _Changes(path.read_text()).make(mutant.number)
    return compile(tree, str(path), 'exec')
