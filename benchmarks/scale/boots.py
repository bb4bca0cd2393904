"""What one boot writes."""

import collections.abc
import dataclasses

from benchmarks.scale import cloud as cloud_module
from benchmarks.scale import servers
from testing.cost import overrides
from testing.harness import statements

#: Boots of each kind. The least that one writes is reported: services that
#: report that they are alive write, too, and Nova itself now and then saves a
#: key of system metadata once more, depending on which of its threads is first.
ROUNDS = 6


@dataclasses.dataclass(frozen=True)
class Written:
    """What went into the databases of Nova.

    :ivar statements: INSERT, UPDATE and DELETE
    :ivar rows: how many they wrote
    :ivar logged: bytes of InnoDB's redo log
    """

    statements: int
    rows: int
    logged: int


class Boots:
    """Servers of every kind, booted with a port and one item of metadata.

    :ivar written: kind, in words -> what a boot writes at least
    :ivar booted: number of overrides -> a server that has that many
    """

    def __init__(self, cloud: cloud_module.Cloud) -> None:
        self._cloud = cloud
        self._flavor = cloud.flavor(vcpus=4)
        self._servers: list[str] = []
        plain = cloud.image(**overrides.IMAGE)
        kinds = {number: (f'{number} overrides', asked, plain)
                 for number, asked in servers.KINDS.items()}
        having = ('0 overrides, image with the 10', {}, cloud.image(
            **overrides.IMAGE | overrides.TEN))
        written: dict[str, list[Written]] = {}
        for _ in range(ROUNDS):
            for title, asked, image in (*kinds.values(), having):
                written.setdefault(title, []).append(self._boot(asked, image))
        self.written = {
            title: _least(all_written)
            for title, all_written in written.items()}
        self.booted = dict(zip(kinds, self._servers, strict=False))

    def _boot(self, asked: dict[str, str], image: str) -> Written:
        database = self._cloud.DATABASE
        changes = []

        def hear(statement: statements.Statement) -> None:
            if statement.database.startswith('mysql') and (
                    statement.text.startswith(('INSERT', 'UPDATE', 'DELETE'))):
                changes.append(statement)

        rows, logged = database.rows_written(), database.bytes_logged()
        with statements.Statements(hear):
            self._servers.append(self._cloud.boot(
                asked, image=image, flavor=self._flavor, server={
                    'networks': [{'uuid': self._cloud.neutron.network_1['id']}],
                    'metadata': {'role': 'web'}}))
        return Written(
            len(changes), database.rows_written() - rows,
            database.bytes_logged() - logged)

    def delete(self) -> None:
        """Delete the servers; their rows remain, as with any server."""
        for server in self._servers:
            self._cloud.delete(server)


def _least(all_written: collections.abc.Iterable[Written]) -> Written:
    return Written(*map(min, zip(
        *map(dataclasses.astuple, all_written), strict=True)))
