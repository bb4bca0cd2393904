"""The operator's file of presets: what it may say, and when it counts."""

import hypothesis
from hypothesis import strategies as st
import pytest
import yaml

from nova_image_override import errors
from nova_image_override import policies
from nova_image_override.authorization import enforcer as enforcer_module
from nova_image_override.authorization import presets
from nova_image_override.authorization import rules
from nova_image_override.authorization.glance import property_protections
from testing import examples
from tests.unit import refusals
from tests.unit import strategies
from tests.unit.authorization.judged import caller
from tests.unit.authorization.judged import MEMBER
from tests.unit.authorization.judged import section
from tests.unit.strategies import overrides_of

ONE = 'one: {description: x, properties: {hw_boot_menu: yes}}'


@pytest.fixture
def written(catalog, files):
    """Return a function that writes the file, and the presets in it."""
    def write(text):
        path = files.write(text, write.path.name)
        return presets.Presets(catalog, str(path))

    write.path = files.folder / 'presets.yaml'
    return write


def refused(call, *args):
    ((name, found),) = refusals.of(call, *args).items()
    assert name == errors.PRESET
    return found


class TestFile:
    def test_values_are_read_as_they_are_written(self, written):
        (preset,) = written('''
            one:
              description: "some: words"
              properties:
                hw_boot_menu: yes
                hw_tpm_version: 2.0
                hw_numa_nodes: 010
                hw_cpu_realtime_mask: ^0
                hw_video_ram: 0016
                hw_pmu:
                hw_disk_bus: ~
              flavors: [1, m1.large]
            ''').now().values()
        assert preset == presets.Preset.of('one', overrides_of({
            'hw_boot_menu': 'true', 'hw_tpm_version': '2.0',
            'hw_numa_nodes': '10', 'hw_cpu_realtime_mask': '^0',
            'hw_video_ram': '16', 'hw_pmu': None, 'hw_disk_bus': None,
        }), 'some: words', ('1', 'm1.large'))

    @hypothesis.settings(suppress_health_check=[
        hypothesis.HealthCheck.function_scoped_fixture])
    @hypothesis.given(strategies.requests())
    def test_every_request_can_be_a_preset(self, written, parser, asked):
        if not asked or any(parser._catalog.resolve(name).record.never
                            for name in asked):
            return
        made = written(yaml.safe_dump(
            {'one': {'description': 'x', 'properties': asked}})).now()
        assert made['one'].overrides.values == parser.parse(asked).values

    @pytest.mark.parametrize(('texts', 'why'), [
        (['- one', 'text'], 'must be a mapping of names to presets'),
        (['{'], 'while parsing a flow node'),
        ([f'{ONE}\n{ONE}'],
         'one is there twice in "<unicode string>", line 2, column 1'),
        (['one: {description: x, properties: {hw_pmu: a, hw_pmu: b}}'],
         'hw_pmu is there twice'),
        (['{~: a, null: b}'], 'None is there twice'),
        (['? [a]\n: b'], 'unhashable'),
        (['!!python/object:os.system {}'], 'tags, such as !!str, have no'),
        ([f'{ONE}\ntwo: *one',
          'one: &one {description: x, properties: {hw_pmu: "true"}}\n'
          'two: *one'], 'write out what *one stands for'),
        # Beyond what PyYAML reads.
        (['[' * 1000, f'{ONE[:-1]}, flavors: ["\\UFFFFFFFF"]}}',
          f'{ONE[:-1]}, flavors: ["\\U00110000"]}}',
          f'%YAML {"9" * 5000}.1\n---\n{ONE}'], ''),
        ([ONE.replace('one', '-one')], 'preset -one: a name is 1 to 64'),
        ([ONE.replace('one', 'a b')], 'preset "a b": a name is 1 to 64'),
        ([ONE.replace('one', '"a\\nb"')], 'preset "a\\nb": a name is 1 to 64'),
        ([f'~: {ONE[5:]}'], 'preset None: a name is 1 to 64'),
        ([ONE.replace('one', 'x' * 65)], 'a name is 1 to 64'),
        ([f'{ONE}\n{ONE.replace("one", "One")}'], 'differ in case only'),
        (['one:', 'one: [x]', ONE.replace('description', 'descr')],
         'preset one: must be a mapping with no other keys than description, '
         'properties, flavors'),
        (['one: {propertys: {hw_pmu: yes}, flavours: []}'],
         'properties, flavors; propertys, did you mean properties?; '
         'flavours, did you mean flavors?'),
        ([ONE.replace('x,', '" ",'), ONE.replace('x,', '[x],'),
          'one: {properties: {hw_pmu: yes}}'], 'description must be a text'),
        ([f'one: {{description: x{properties}}}' for properties in (
            '', ', properties: {}', ', properties: [hw_pmu]',
            ', properties: {hw_pmu: [yes]}')], 'properties must be a mapping'),
        ([ONE.replace('}}', '}, flavors: m1.large}'),
          ONE.replace('}}', '}, flavors: [[m1]]}')],
         'flavors must be a list of names'),
        *(([f'one: {{description: x, properties: {{{value}}}}}'],
           f'preset one: {why}') for value, why in (
            ('hw_pum: yes', 'hw_pum: unknown: not an image property that Nova '
             'reads, did you mean hw_pmu?'),
            ('vm_mode: hvm', 'vm_mode: legacy_name'),
            ('hw_disk_bus: floppy', 'hw_disk_bus: invalid_value'),
            ('img_owner_id: x', 'img_owner_id: never'),
            ('img_owner_id: null', 'img_owner_id: never'))),
    ])
    def test_what_is_wrong_stops_the_start_with_a_line(
            self, written, texts, why):
        for text in texts:
            with pytest.raises(errors.StartupError) as caught:
                written(text)
            (line,) = str(caught.value).split('\n')
            assert line.startswith(
                f'[image_override] presets_file: {written.path}: ')
            assert why in line

    @pytest.mark.parametrize('tagged', [
        '!!bool maybe', '!!bool yes', '!!int ""', '!!int 1', '!!float ""',
        '!!timestamp x', '!!binary aGFsbG8=', '!!null x', '!!str yes', '! yes',
        '!own yes', '!!set {yes}', '!!python/name:os.system ""'])
    @pytest.mark.parametrize('text', [
        '{}: {{description: x, properties: {{hw_pmu: yes}}}}',
        'one: {{description: {}, properties: {{hw_pmu: yes}}}}',
        'one: {{description: x, properties: {{hw_pmu: {}}}}}',
        'one: {}', '{}'])
    def test_a_tag_is_an_error_whatever_it_is_on(self, written, text, tagged):
        with pytest.raises(errors.StartupError) as caught:
            written(text.format(tagged))
        (line,) = str(caught.value).split('\n')
        assert line.startswith(
            f'[image_override] presets_file: {written.path}: tags, such as')

    @staticmethod
    def _many(presets, properties):
        return yaml.safe_dump({f'p{each}': {
            'description': 'x', 'properties': {
                f'trait:CUSTOM_{number}': 'required'
                for number in range(properties)}}
            for each in range(presets)})

    @pytest.mark.parametrize(('count', 'each', 'more'), [
        (presets.PRESETS_MAX, 10, 'at most 100 presets, not 101'),
        (10, presets.PROPERTIES_MAX // 10,
         'at most 1000 properties in all presets together, not 1100')])
    def test_what_one_file_may_have_is_bounded(
            self, written, count, each, more):
        assert len(written(self._many(count, each)).now()) == count
        with pytest.raises(errors.StartupError) as caught:
            written(self._many(count + 1, each))
        assert str(caught.value) == (
            f'[image_override] presets_file: {written.path}: {more}')

    def test_so_is_its_size(self, written):
        text = f'{ONE}\n#'
        text += 'x' * (presets.BYTES_MAX - len(text))
        assert list(written(text).now()) == ['one']
        with pytest.raises(errors.StartupError, match='larger than 128 KiB'):
            written(text + 'x')

    def test_everything_that_is_wrong_has_a_line(self, written):
        with pytest.raises(errors.StartupError) as caught:
            written('one: {properties: {hw_pum: yes, hw_pmu: x}}\ntwo:')
        assert [str(line).split(': ', 3)[2:] for line in caught.value.args] == [
            ['preset one', 'description must be a text'],
            ['preset one', caught.value.args[1].why.split(': ', 1)[1]],
            ['preset one', caught.value.args[2].why.split(': ', 1)[1]],
            ['preset two', 'must be a mapping with no other keys than '
             'description, properties, flavors']]

    @pytest.mark.parametrize('text', ['', ' \n', '# nothing'])
    def test_an_empty_file_is_not_one_without_presets(self, written, text):
        with pytest.raises(errors.StartupError, match='is empty'):
            written(text)
        assert written('{}').now() == {}

    def test_without_a_file_there_is_none(self, catalog):
        assert presets.Presets(catalog).now() == {}


class TestChange:
    def test_a_change_counts_at_once(self, written):
        read = written(ONE)
        written(ONE.replace('one', 'two'))
        assert list(read.now()) == ['two']

    @pytest.mark.parametrize('text', [
        '', '# nothing', '{', '- one', ONE.replace('yes', 'maybe'), None,
        ONE.replace('yes', '!!bool maybe'), ONE.replace('x,', '!!int "",'),
        ONE.replace('x,', '"\\UFFFFFFFF",'),
        '\n'.join(ONE.replace('one', f'p{n}') for n in range(101))])
    def test_what_cannot_be_read_leaves_what_was_and_one_line(
            self, written, said, text):
        read = written(ONE)
        if text is None:
            written.path.unlink()
        else:
            with pytest.raises(errors.StartupError):
                written(text)
        for _ in range(2):
            assert list(read.now()) == ['one']
        (line,) = said
        assert '\n' not in line
        assert line.startswith('[image_override] presets_file')
        assert line.endswith('. What was read before stays in force.')
        written(ONE.replace('one', 'two'))
        assert list(read.now()) == ['two']
        assert len(said) == 1


class TestNamed:
    def test_the_preset_of_that_name(self, written):
        assert written(ONE).named('one').overrides.values == {
            'hw_boot_menu': 'true'}

    @pytest.mark.parametrize('name', [None, 1, True, [], {}, ['one']])
    def test_what_is_no_text_is_none(self, written, name):
        assert refused(written(ONE).named, name)[0] == errors.INVALID_TYPE

    @pytest.mark.parametrize(('name', 'meant'), [
        ('One', ', did you mean one?'), ('oen', ', did you mean one?'),
        ('two', ''), ('', ''), ('x' * 100000, '')])
    def test_an_unknown_one_is_told_with_what_was_meant(
            self, written, name, meant):
        code, reason = refused(written(ONE).named, name)
        assert code == errors.UNKNOWN_PRESET
        assert reason.endswith(meant or errors.printable(name))
        assert len(reason) <= 300

    @pytest.mark.parametrize('name', ['two', 'Two', 'twoo', 'three'])
    def test_what_the_caller_may_not_use_is_not_there(self, written, name):
        read = written(f'{ONE}\n{ONE.replace("one", "two")}')
        code, reason = refused(read.named, name, {'one'}.__contains__)
        assert (code, reason) == (
            errors.UNKNOWN_PRESET, f'this cloud has no preset {name}')
        assert (code, reason) == refused(
            written(ONE).named, name, {'one'}.__contains__)
        assert read.named('one', {'one'}.__contains__).name == 'one'
        assert 'did you mean one?' in refused(
            read.named, 'On', {'one'}.__contains__)[1]

    @pytest.mark.parametrize(('name', 'is_one'), [
        ('a', True), ('0.-_', True), ('x' * 64, True), ('x' * 65, False),
        ('', False), ('.a', False), ('a\n', False), ('\u00e4', False)])
    def test_names(self, name, is_one):
        assert presets.is_name(name) is is_one


class TestDigest:
    def test_the_digest_is_that_of_the_properties_in_any_order(self):
        def used(name, values, *others):
            return presets.Preset.of(
                name, overrides_of(values), *others).overrides.preset

        one, other = ({'hw_pmu': 'true', 'hw_disk_bus': None},
                      {'hw_disk_bus': None, 'hw_pmu': 'true'})
        assert used('a', one, 'x') == used('a', other, 'y', ('z',))
        assert used('b', one).digest == used('a', one).digest
        for changed in ({'hw_pmu': 'true'}, {**one, 'hw_pmu': 'false'},
                        {**one, 'hw_disk_bus': ''}):
            assert used('a', changed).digest != used('a', one).digest


RULE = policies.PRESET_RULE.format('one')
CLOSED = caller(refused=[RULE])


class TestPermission:
    @pytest.mark.parametrize(('who', 'rule', 'is_open'), [
        (CLOSED, RULE, False),
        (caller(refused=[policies.CREATE]), policies.CREATE, False),
        (caller(refused=[policies.CREATE], defined=[RULE]), policies.CREATE,
         False),
        (MEMBER, policies.CREATE, True),
        (caller(defined=[RULE]), RULE, True),
        (caller(refused=[policies.PRESET_RULE.format('two')]),
         policies.CREATE, True)])
    def test_policy_can_close_it_or_leave_it_open(self, who, rule, is_open):
        decision = rules.of_preset('one', who)
        assert decision.permits is is_open
        assert decision.detail == rule
        if not is_open:
            assert decision.code == errors.PRESET_NOT_ALLOWED
            assert rule in decision.reason

    PRESET = presets.Preset.of(
        'one', overrides_of({'hw_boot_menu': 'true', 'hw_pmu': None}))

    @pytest.mark.parametrize(('name', 'value', 'code'), [
        ('hw_boot_menu', 'true', None), ('hw_pmu', None, None),
        ('hw_boot_menu', 'false', errors.NOT_ALLOWED),
        ('hw_boot_menu', None, errors.NOT_ALLOWED),
        ('hw_pmu', 'true', errors.NOT_ALLOWED),
        ('hw_disk_bus', None, errors.NOT_ALLOWED)])
    def test_only_its_own_values_need_no_entry(
            self, catalog, parser, name, value, code):
        asked = parser.parse(
            {name: value}, preset=self.PRESET.overrides).only([name])
        found = enforcer_module.Enforcer(catalog).refusals(
            MEMBER, asked, [{}])
        assert [each.code for each in found] == [code][:bool(code)]

    @pytest.mark.parametrize(('options', 'who', 'code'), [
        ({'denied': ['hw_boot_menu=true']}, MEMBER, errors.DENIED),
        ({}, caller(refused=[policies.PROPERTY_RULE.format('hw_boot_menu')]),
         errors.POLICY),
        ({'protections': property_protections.Protections(
            [])}, MEMBER, errors.PROTECTED)])
    def test_all_other_rules_apply_and_close_it(
            self, catalog, options, who, code, written):
        read = written(ONE)
        closed = enforcer_module.Enforcer(catalog, presets=read, **options)
        preset = read.named('one')
        (found,) = closed.refusals(who, preset.overrides, [{}])
        assert found.code == code
        assert list(closed.usable(who)) == []

    @pytest.mark.parametrize(('who', 'preset', 'codes'), [
        (MEMBER, ONE, []),
        (CLOSED, ONE, [errors.NOT_ALLOWED]),
        (MEMBER, ONE.replace('one', 'two'), [errors.NOT_ALLOWED])])
    def test_what_is_kept_from_it_is_permitted_while_it_may_be_used(
            self, catalog, written, who, preset, codes):
        made = enforcer_module.Enforcer(catalog, presets=written(preset))
        kept = overrides_of(
            {'hw_boot_menu': 'true'}, self.PRESET.overrides.preset,
            is_kept=True)
        assert [each.code for each in made.refusals(who, kept, [{}])] == codes

    def test_one_that_is_closed_to_the_caller_is_not_there(
            self, catalog, written):
        made = enforcer_module.Enforcer(catalog, presets=written(ONE))
        assert made.preset(MEMBER, 'one').name == 'one'
        gone = enforcer_module.Enforcer(catalog)
        assert refused(made.preset, CLOSED, 'one') == refused(
            gone.preset, MEMBER, 'one')

    def test_who_may_not_use_it_is_refused_what_it_gives(self, catalog):
        (found,) = enforcer_module.Enforcer(catalog).refusals(
            CLOSED, self.PRESET.overrides, [{}])
        assert (found.name, found.code) == (
            errors.PRESET, errors.PRESET_NOT_ALLOWED)

    def test_discovery_has_what_may_be_used(self, catalog, written):
        read = written(ONE + '\n' + ONE.replace('one', 'two').replace(
            'yes', 'null'))
        made = enforcer_module.Enforcer(catalog, presets=read)
        assert [each.name for each in made.usable(MEMBER)] == ['one', 'two']
        assert [each.name for each in made.usable(CLOSED)] == ['two']
        assert list(enforcer_module.Enforcer(catalog).usable(MEMBER)) == []

    def test_what_presets_have_in_common_is_judged_once(
            self, catalog, written):
        read = written('\n'.join(
            ONE.replace('one', f'p{n}') for n in range(50)))
        made = enforcer_module.Enforcer(catalog, presets=read)
        asked = []

        class Counting(rules.Never):
            def decide(self, request):
                asked.extend(request.overrides.names)
                return super().decide(request)

        made._deciding = [Counting(), *made._deciding]
        assert len([*made.usable(MEMBER)]) == 50
        assert asked == ['hw_boot_menu']

    @hypothesis.settings(suppress_health_check=[
        hypothesis.HealthCheck.function_scoped_fixture])
    @hypothesis.given(
        st.lists(strategies.requests(), min_size=1, max_size=4),
        st.lists(strategies.entries(), max_size=3), st.booleans())
    def test_a_preset_may_be_used_if_all_of_it_is_permitted_together(
            self, catalog, parser, written, asked, denied, protected):
        properties = [
            parser.parse(each).values for each in asked if each and not any(
                catalog.resolve(name).record.never for name in each)]
        made = enforcer_module.Enforcer(
            catalog, denied=denied,
            presets=written(yaml.safe_dump({
                f'p{at}': {'description': 'x', 'properties': each}
                for at, each in enumerate(properties)})),
            protections=property_protections.Protections([
                section('hw_', update=['!'], delete=['!'])]
            ) if protected else None)
        assert [each.name for each in made.usable(MEMBER)] == [
            name for name, each in made.presets.now().items()
            if not made.refusals(MEMBER, each.overrides, [{}])]


def test_the_examples_can_be_used(catalog):
    found = presets.Presets(catalog, str(examples.PRESETS)).now()
    assert list(found) == ['uefi-secure-boot', 'windows', 'nfv-2m-pinned',
                           'nfv-realtime', 'legacy-bios-ide']
    assert all(each.description for each in found.values())
    assert {name for each in found.values()
            for name in each.overrides.names} <= {
        *catalog}
