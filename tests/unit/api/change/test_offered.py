"""Discovery offers exactly what some request gets on the cloud's hosts."""

import jsonschema
import pytest

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.api.change import plan
from nova_image_override.authorization import presets
from nova_image_override.override import Parser
from nova_image_override.properties import families
from testing.cases import scenarios
from testing.cases import values
from tests.unit.api.change.plans import planner
from tests.unit.api.guest import guests
from tests.unit.authorization.judged import MEMBER

LIBVIRT = frozenset({'libvirt'})
FIELDS = [field for field, prop in values.CATALOG.items()
          if not prop.record.never]

#: Circumstances in which values are accepted for which the servers that
#: scenarios build are too small, or too plain.
CIRCUMSTANCES = {
    'hw_cpu_cores=65536': scenarios.Scenario(vcpus=65536),
    'hw_cpu_sockets=65536': scenarios.Scenario(vcpus=65536),
    'hw_cpu_threads=65536': scenarios.Scenario(vcpus=65536),
    'hw_cpu_realtime_mask=0-1': scenarios.Scenario(
        specs=scenarios.SCENARIOS['hw_cpu_realtime_mask'].specs, vcpus=3),
    'hw_numa_nodes=128': scenarios.Scenario(vcpus=128),
    **dict.fromkeys(
        ('hw_mem_encryption_model=amd-sev-snp',
         'hw_mem_encryption_model=intel-tdx'),
        scenarios.Scenario({
            **scenarios.SCENARIOS['hw_mem_encryption_model'].image,
            'hw_firmware_stateless': 'true', 'hw_video_model': 'none'})),
    # For hosts of another architecture.
    'hw_viommu_model=smmuv3': scenarios.Scenario(),
}


def schema(drivers, *allowed):
    return planner(*allowed, drivers=drivers).schema(MEMBER, versions.MAX)


def is_offered(schema, name, value):
    return jsonschema.Draft202012Validator(schema).is_valid({name: value})


def refused(drivers, field, value):
    """Return the code with which VALUE is refused, or ''."""
    scenario = CIRCUMSTANCES.get(
        f'{field}={value}', scenarios.scenario(field, value or ''))
    (name, *_) = values.names(values.CATALOG[field])
    asked = Parser(values.CATALOG).parse({**scenario.along, name: value})
    own = dict(scenario.image)
    if scenario.has_kernel:
        own['kernel_id'] = 'kernel'
    after = asked.over(own)
    nodes = [int(said) for name, said in after.merge(own).items()
             if families.NUMA_MEM.has(name)]
    flavor = guests.flavor(
        scenario.vcpus, sum(nodes) or scenarios.MEMORY, **scenario.specs)
    try:
        planner(drivers=drivers).plan(None, plan.Change(
            flavor, {'id': 'image', 'properties': own}, after, asked))
    except errors.OverrideError as exc:
        return {each.name: each.code for each in exc.problems}[name]
    return ''


@pytest.mark.parametrize('field', FIELDS)
def test_each_value_on_offer_is_accepted_and_no_other(field):
    prop, offer = values.CATALOG[field], schema(LIBVIRT)
    (name, *_) = values.names(prop)
    for value in values.taken(prop):
        found = refused(LIBVIRT, field, value)
        assert found in ('', errors.NO_EFFECT), f'{value}: {found}'
        assert is_offered(offer, name, prop.canonical(value)) == (
            not found), f'{value}: {found}'


def test_each_circumstance_is_of_a_value_on_offer():
    offer = schema(LIBVIRT)
    for place in CIRCUMSTANCES:
        field, _, value = place.partition('=')
        if guests.known({field: value}):
            (name, *_) = values.names(values.CATALOG[field])
            assert is_offered(offer, name, value), place


@pytest.mark.parametrize(('drivers', 'name', 'offer'), [
    (LIBVIRT, 'hw_video_model', {'gop': False, 'virtio': True}),
    (LIBVIRT, 'hw_floppy_bus', {'ide': False, 'fdc': True}),
    (LIBVIRT, 'hw_ephemeral_encryption', {
        'true': False, 'false': True, None: True}),
    # A property that nothing acts on is not on offer to be removed, either.
    (LIBVIRT, 'hw_disk_type', {'sparse': False, None: False}),
    (LIBVIRT, 'hw_ipxe_boot', {'true': False}),
    # Every guest has it, though no driver reads it.
    (LIBVIRT, 'hw_rng_model', {'virtio': True}),
    # The scheduler acts on it.
    ({'vmwareapi'}, 'trait:CUSTOM_A', {'required': True}),
    ({'vmwareapi'}, 'hw_boot_menu', {'true': False}),
    ({'vmwareapi'}, 'hw_disk_type', {'sparse': True, 'sparse2': False}),
    # With another property beside it.
    ({'vmwareapi'}, 'hw_disk_bus', {'scsi': True, 'virtio': False}),
    (LIBVIRT | {'vmwareapi'}, 'hw_disk_bus', {'virtio': True}),
    ((), 'hw_ipxe_boot', {'true': True}),
    ((), 'hw_video_model', {'gop': True})])
def test_what_no_driver_of_the_cloud_acts_on_is_left_out(drivers, name, offer):
    made = schema(drivers)
    assert offer == {value: is_offered(made, name, value) for value in offer}


def test_a_property_is_left_out_whose_permitted_values_nothing_acts_on():
    assert schema(LIBVIRT, 'hw_video_model=gop')['properties'] == {}
    assert schema((), 'hw_video_model=gop')['properties']


def test_a_preset_is_left_out_that_no_host_can_build(tmp_path):
    path = tmp_path / 'presets.yaml'
    path.write_text("""
        thin: {description: Thin, properties: {hw_disk_type: thin}}
        disk: {description: SCSI, properties: {hw_disk_bus: scsi}}
        """)
    read = presets.Presets(values.CATALOG, str(path))

    def usable(*drivers):
        return {each.name for each in planner(
            drivers=drivers, presets=read).usable(MEMBER)}

    assert usable('libvirt') == {'disk'}
    assert usable('vmwareapi') == usable() == {'thin', 'disk'}
