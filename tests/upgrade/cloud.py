"""The cloud, as an older release of Nova has left it.

Each release runs in an environment and a process of its own: what passes from
one to the next is a file with the databases of Nova and placement, the images
that were made, and what tests keep of their servers. Guests do not pass: Nova's
fake libvirt forgets them, as a host does that was rebooted.
"""
from __future__ import annotations

import collections.abc
import contextlib
import json
import pathlib
import typing
from unittest import mock

from nova import context as nova_context
from nova import objects
from nova.db import migration
from nova.db.api import api as api_db
from nova.db.main import api as main_db
from oslo_utils.fixture import uuidsentinel
from placement import db_api as placement_db
from placement.db.sqlalchemy import migration as placement_migration
from placement.objects import resource_class
from placement.objects import trait

from testing.harness import base
from testing.harness import databases
from tests.functional import update_case

#: What Nova's harness would name anew in each process.
_IDS = {'cell1': '5d2d1b0c-5c4b-4c4e-8f6e-3d8f0f7a9a01',
        'node_compute1': '5d2d1b0c-5c4b-4c4e-8f6e-3d8f0f7a9a02'}

_PLACEMENT = 'placement'


class Cloud(update_case.Cloud):
    """A cloud with what PATH has, if it is there.

    :ivar PATH: the file
    :ivar kept: what tests want to know of their servers, by name
    """

    PATH = pathlib.Path()

    def setUp(self) -> None:
        for name, value in _IDS.items():
            patch = mock.patch.object(
                uuidsentinel, name, value, create=True)
            patch.start()
            self.addCleanup(patch.stop)
        self.found = (
            json.loads(self.PATH.read_text()) if self.PATH.exists() else {})
        self.kept: dict[str, typing.Any] = self.found.get('kept', {})
        super().setUp()

    def _setup_services(self) -> None:
        # Here databases are there, and no service yet.
        if self.found:
            self._load()
        super()._setup_services()

    @classmethod
    @contextlib.contextmanager
    def kept_at(cls, path: pathlib.Path) -> collections.abc.Iterator[Cloud]:
        """Run it, and write the file for the next release."""
        with cls.running(PATH=path) as made:
            yield made
            made._keep()

    def _engines(self) -> dict[str, typing.Any]:
        found = {'api': api_db.get_engine(),
                 _PLACEMENT: placement_db.get_placement_engine()}
        for name, mapping in self.cell_mappings.items():
            with self._in(mapping) as cell:
                found[name] = main_db.get_engine(context=cell)
        return found

    @staticmethod
    def _in(mapping: objects.CellMapping) -> typing.Any:
        return nova_context.target_cell(
            nova_context.get_admin_context(), mapping)

    def _load(self) -> None:
        for name, engine in self._engines().items():
            databases.replace(engine, self.found['databases'][name])
        migration.db_sync(database='api')
        for mapping in self.cell_mappings.values():
            with self._in(mapping) as cell:
                migration.db_sync(database='main', context=cell)
        placement_migration.upgrade('head')
        trait._TRAITS_SYNCED = resource_class._RESOURCE_CLASSES_SYNCED = False
        for module in (trait, resource_class):
            module.ensure_sync(placement_db.DbContext())
        for host in self.HOSTS:
            self.host_mappings[host] = objects.HostMapping.get_by_host(
                nova_context.get_admin_context(), host)
        dates = {name: self.glance.images[base.IMAGE][name]
                 for name in ('created_at', 'updated_at')}
        for image in self.found['images']:
            if image['id'] not in self.glance.images:
                self.glance.create(None, {**image, **dates})

    def _keep(self) -> None:
        # Its fixture has made the tables of the newest revision without that.
        placement_migration.stamp('head')
        self.PATH.parent.mkdir(exist_ok=True)
        self.PATH.write_text(json.dumps({
            'kept': self.kept,
            'images': [*self.glance.images.values()],
            'databases': {name: databases.dumped(engine)
                          for name, engine in self._engines().items()},
        }, default=str))
