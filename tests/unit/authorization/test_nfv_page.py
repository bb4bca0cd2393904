"""The list and the policy of docs/source/admin/nfv.rst, as Nova reads them.

And the operator's entries of the goals in docs/source/user/nfv-start.rst.
"""

import pathlib
import re
import textwrap

from oslo_config import cfg
import pytest

from nova_image_override import conf as override_conf
from nova_image_override import errors
from nova_image_override.authorization import caller as caller_module
from nova_image_override.authorization import enforcer as enforcer_module
from testing import nfv_goals
from testing import release
from tests.unit.authorization import policy_folder
from tests.unit.authorization.judged import refusals

PAGE = (pathlib.Path(__file__).parents[3]
        / 'docs' / 'source' / 'admin' / 'nfv.rst').read_text()

FOR_NFV = {
    'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0-1', 'hw_numa_mem.0': '1024',
    'hw_mem_page_size': '2048', 'hw_cpu_policy': 'dedicated',
    'hw_cpu_thread_policy': 'require', 'hw_cpu_realtime_mask': '^0',
    'hw_locked_memory': 'true', 'hw_pci_numa_affinity_policy': 'required'}
FOR_ALL = {'hw_vif_multiqueue_enabled': 'true', 'hw_cpu_sockets': '1',
           'hw_cpu_cores': '2', 'hw_cpu_threads': '2'}


def block(language):
    """Return the page's only block in a language."""
    (text,) = re.findall(
        rf'^\.\. code-block:: {language}\n\n((?:   .*\n|\n)+)', PAGE, re.M)
    return textwrap.dedent(text)


def reading(catalog, tmp_path, text):
    """Return the enforcer of a nova.conf."""
    path = tmp_path / 'nova.conf'
    path.write_text(text)
    conf = cfg.ConfigOpts()
    conf(['--config-file', str(path)])
    override_conf.register_opts(conf)
    return enforcer_module.Enforcer.from_options(
        catalog, conf.image_override)


@pytest.fixture
def enforcer(catalog, tmp_path):
    return reading(catalog, tmp_path, block('ini'))


@pytest.fixture
def refused(enforcer, tmp_path):
    """Return a function: roles and overrides -> name -> code."""
    files = policy_folder.Files(tmp_path)
    files.write(block('yaml'))
    policy = files.read().content()

    def ask(roles, overrides):
        caller = caller_module.Caller(
            can=policy_folder.can(
                policy, {'roles': roles, 'project_id': 'p'}),
            policy_defined=policy.file_rules)
        return refusals(enforcer, overrides, who=caller)
    return ask


@pytest.mark.parametrize(('roles', 'overrides', 'code'), [
    (['member', 'nfv'], {**FOR_NFV, **FOR_ALL}, None),
    (['member'], FOR_ALL, None), (['member'], FOR_NFV, errors.POLICY),
    # What the list leaves out.
    *((['member', 'nfv'], {'hw_mem_page_size': size}, errors.VALUE_NOT_ALLOWED)
      for size in ('small', '4', None)),
    (['member', 'nfv'], {'hw_cpu_policy': 'shared'}, errors.VALUE_NOT_ALLOWED),
    (['member', 'nfv'], {'hw_disk_bus': 'scsi'}, errors.NOT_ALLOWED)])
def test_members_may_what_costs_nothing_and_who_has_the_role_all_of_the_list(
        refused, roles, overrides, code):
    assert refused(roles, overrides) == (
        dict.fromkeys(overrides, code) if code else {})


def test_each_property_of_the_list_has_its_cost():
    (table,) = re.findall(
        r'^What each property costs\n=+\n(.*?)^What to prepare$', PAGE,
        re.M | re.S)
    priced = set(re.findall(r'``(hw_\w+)``', ''.join(
        re.findall(r'^   \* - (.*\n(?:       .*\n)*)', table, re.M))))
    listed = {name.partition('=')[0].strip() for name in re.sub(
        r'^.*allowed_properties =', '', block('ini'),
        flags=re.S).split(',')}
    assert priced == listed


@pytest.mark.parametrize('goal', nfv_goals.read(), ids=str)
def test_the_entry_of_a_goal_permits_its_overrides_and_no_other(
        catalog, tmp_path, goal):
    release.need(*goal.overrides)
    asked = {name: catalog.resolve(name).canonical(value)
             for name, value in goal.overrides.items()}
    enforcer = reading(catalog, tmp_path, '[image_override]\n'
                       f'allowed_properties = {", ".join(goal.entries)}\n')
    assert refusals(enforcer, asked) == {}
    assert refusals(reading(catalog, tmp_path, ''), asked) == dict.fromkeys(
        asked, errors.NOT_ALLOWED)
