"""Twenty shapes of one image: what each way to get them costs."""

import collections.abc
import pathlib
import time

from benchmarks.deployment import counting
from benchmarks.deployment import shapes
from benchmarks.deployment import ways
from testing.deployment import cloud
from testing.deployment import command
from testing.deployment import places
from testing.deployment import processes

# Where Glance keeps images, and where nova-compute keeps copies of them.
_FOLDERS = (('glance-data',), ('nova', 'instances', '_base'))

#: What is measured; columns after the title of the way and who may use it.
MEASURES = ('seconds', 'API calls', 'MiB sent', 'MiB in Glance',
            'MiB in the image cache')


class Clock:
    """Adds up the time that passes inside it, in seconds."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> None:
        self._began = time.monotonic()

    def __exit__(self, *args: object) -> None:
        self.seconds += time.monotonic() - self._began


def stored(deployment: cloud.Cloud, *folder: str) -> int:
    """Return how much disk space the files of a folder take, in bytes."""
    return sum(path.stat().st_blocks * 512
               for path in deployment.state.subfolder(*folder).rglob('*')
               if path.is_file())


def measure(
    deployment: cloud.Cloud, kind: type[ways.Way], disk: pathlib.Path,
) -> list[int]:
    """Get all shapes in one way, and return the :data:`MEASURES` of it.

    Waiting and checking use another connection, which is not counted. Each
    server is gone before the next one is created.
    """
    way = kind(deployment, disk)
    clock = Clock()
    try:
        way.open()
        before = [stored(deployment, *folder) for folder in _FOLDERS]
        counters = [counting.Counter.of(way.tenant),
                    counting.Counter.of(way.operator)]
        with clock:
            way.prepare()
        for shape in shapes.SHAPES:
            _boot(way, shape, clock)
        return [
            round(clock.seconds), sum(each.calls for each in counters),
            sum(each.sent for each in counters) >> 20,
            *(stored(deployment, *folder) - had >> 20
              for folder, had in zip(_FOLDERS, before, strict=True))]
    finally:
        way.close()


def _boot(way: ways.Way, shape: shapes.Shape, clock: Clock) -> None:
    """Create one server, check that it has the shape, and delete it."""
    compute = way.deployment.operator.compute

    def settled() -> bool:
        return compute.get_server(made.id).status in ('ACTIVE', 'ERROR')

    with clock:
        made = way.tenant.compute.create_server(
            name=f'test-{shape.name}', networks='none', **way.server(shape))
        processes.wait_for(settled, made.id, 300)
    try:
        server = places.Server(
            way.deployment,
            command.Openstack(way.deployment.state, 'tenant'), made.id)
        server.settled('ACTIVE')
        shape.check(server.domain)
    finally:
        compute.delete_server(made.id)
        compute.wait_for_delete(made, interval=1)


def rows(deployment: cloud.Cloud) -> collections.abc.Iterator[list[str]]:
    """Measure every way; yield its title, who may use it, and the measures."""
    disk = ways.make_disk(deployment.state)
    for kind in ways.WAYS:
        yield [kind.TITLE, kind.WHO, *map(str, measure(deployment, kind, disk))]


def plot(measured: list[list[str]], path: pathlib.Path) -> None:
    """Draw what :func:`rows` has measured."""
    # Takes seconds.
    import matplotlib as mpl
    mpl.use('svg')
    from matplotlib import pyplot
    # The same figures make the same file; text stays text.
    mpl.rcParams.update({'svg.hashsalt': 'saves', 'svg.fonttype': 'none'})
    titles = [row[0] for row in measured]
    figure, axes = pyplot.subplots(
        len(MEASURES), figsize=(7, 7), sharey=True, layout='constrained')
    for place, (name, axis) in enumerate(zip(MEASURES, axes, strict=True)):
        bars = axis.barh(titles, [int(row[2 + place]) for row in measured])
        axis.bar_label(bars, padding=3)
        axis.set_title(name, loc='left', fontsize='medium')
        axis.margins(x=0.1)
        axis.spines[['top', 'right']].set_visible(False)
    # The first way is on top, on all axes, because they share it.
    axes[0].invert_yaxis()
    figure.savefig(path, metadata={'Date': None})
