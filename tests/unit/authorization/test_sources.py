"""Where a rule is: FILE:LINE, the file alone, or that there is none."""

import types

from oslo_config import cfg
import pytest

from nova_image_override import conf as override_conf
from nova_image_override.authorization import sources


@pytest.fixture
def nova(tmp_path):
    """Return a function that reads nova.conf, and names each file by F/."""
    def line(source, text='', policy=None):
        path = tmp_path / 'nova.conf'
        path.write_text(text.replace('F/', f'{tmp_path}/'))
        conf = cfg.ConfigOpts()
        override_conf.register_opts(conf)
        conf([], default_config_files=[str(path)], default_config_dirs=[])
        files = types.SimpleNamespace(enforcer=lambda: types.SimpleNamespace(
            file_rules={} if policy is None else {'rule'},
            policy_path=policy and str(policy)))
        return source.line(conf, files).replace(f'{tmp_path}/', 'F/')
    return line


LISTS = '''\
[image_override]
allowed_properties = hw_pmu,
    hw_disk_bus=ide
denied_properties = os_type
'''


@pytest.mark.parametrize(('source', 'expected'), [
    (sources.Source(), 'nova-image-override'),
    (sources.Option('allowed_properties'), 'F/nova.conf:2'),
    (sources.Option('allowed_properties', 'hw_pmu'), 'F/nova.conf:2'),
    (sources.Option('allowed_properties', 'hw_disk_bus=ide'), 'F/nova.conf:3'),
    # Such as an entry that oslo.config has put together of two lines.
    (sources.Option('allowed_properties', 'os_type'), 'F/nova.conf:2'),
    (sources.Option('denied_properties', 'os_type'), 'F/nova.conf:4'),
])
def test_a_rule_of_the_lists_is_in_the_line_of_its_entry(
        nova, source, expected):
    assert nova(source, LISTS) == expected


def test_what_nova_conf_does_not_set_is_the_default(nova):
    for source in (sources.Option('denied_properties'),
                   sources.GlanceFile('property_protection_file', 'x', 'read'),
                   sources.GlanceFile('glance_image_import_files', 'x', 'y')):
        assert nova(source) == 'default'


@pytest.mark.parametrize(('a', 'b', 'expected'), [
    ('[s]\nkey = 1\n', '[s]\nkey = 2\n', 'F/b:2'),
    ('[s]\nkey = 1\n', '[other]\nkey = 2\n', 'F/a:2'),
    ('[s]\nother = 1\n', '[s]\nother = 1\n', 'F/b'),
    ('[s]\nkey = 1\n', None, 'F/a:2'),
])
def test_of_glances_files_the_last_one_that_says_so_counts(
        nova, tmp_path, a, b, expected):
    for name, text in (('a', a), ('b', b)):
        if text is not None:
            (tmp_path / name).write_text(text)
    assert nova(
        sources.GlanceFile('glance_image_import_files', 's', 'key'),
        '[image_override]\nglance_image_import_files = F/a, F/b\n') == expected


def test_a_section_of_one_file_of_glances_is_found_in_it(nova, tmp_path):
    (tmp_path / 'a').write_text('[s]\nread = @\n')
    text = '[image_override]\nproperty_protection_file = F/a\n'
    option = 'property_protection_file'
    assert nova(sources.GlanceFile(option, 's', 'read'), text) == 'F/a:2'
    assert nova(sources.GlanceFile(option), text) == 'F/a'


@pytest.mark.parametrize(('text', 'expected'), [
    ('other: "@"\n"rule": "!"\n', 'F/policy:2'),
    ('{"rule": "!"}', 'F/policy:1'),
    # As an anchor, or a folder of policies, may have it.
    ('other: "rule"\n', 'F/policy'),
])
def test_a_policy_rule_is_in_policy_yaml(nova, tmp_path, text, expected):
    path = tmp_path / 'policy'
    path.write_text(text)
    assert nova(sources.PolicyRule('rule'), policy=path) == expected
    assert nova(sources.PolicyRule('other'), policy=path) == 'default'
