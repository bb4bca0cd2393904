"""What a refusal looks like, for people and for programs."""

import json

import hypothesis
import pytest

from nova_image_override import errors
from tests.unit import strategies


@pytest.mark.parametrize(('text', 'shown'), [
    *((plain, plain) for plain in (
        'hw_disk_bus', 'hw_numa_mem.0', 'trait:HW_CPU_X86_AVX', 'virtio-scsi',
        'a' * 255)),
    ('', '""'), (' x', '" x"'), ('x\n', r'"x\n"'), ('x\0', r'"x\u0000"'),
    ('a"b', r'"a\"b"'), ('\u0455csi', r'"\u0455csi"'), ('\ud800', r'"\ud800"'),
    ('\U0001f600', r'"\ud83d\ude00"'), ('x: denied; y', '"x: denied; y"'),
    ('a' * 256, '"' + 'a' * 77 + '..."'),
    (' ' * 80, '"' + ' ' * 80 + '"'), (' ' * 81, '"' + ' ' * 77 + '..."'),
    ('\xe9' * 200, '"' + r'\u00e9' * 12 + '..."'),
])
def test_all_but_plain_text_is_quoted_escaped_and_cut(text, shown):
    assert errors.printable(text) == shown


@hypothesis.given(strategies.any_text)
def test_no_text_can_forge_a_log_line_or_break_its_encoding(text):
    shown = errors.printable(text)
    assert shown.isascii()
    assert shown.isprintable()
    assert len(shown) <= 255


@pytest.mark.parametrize(('kind', 'status', 'summary'), [
    (errors.Invalid, 400, 'Invalid image property overrides.'),
    (errors.Forbidden, 403, 'Not permitted to override image properties.'),
    (errors.Conflict, 409,
     'Image property overrides conflict with the state of the server.'),
])
def test_a_refusal_names_every_property_sorted_with_code_and_reason(
        kind, status, summary):
    refusal = kind(iter([
        errors.Problem('os_type', 'not_allowed', 'no'),
        errors.Problem('hw\n', 'unknown', 'not an image property'),
        errors.Problem('hw_pmu', 'denied', 'denied by this cloud')]))
    assert refusal.status == status
    assert str(refusal) == (
        summary + r' "hw\n": unknown: not an image property; '
        'hw_pmu: denied: denied by this cloud; os_type: not_allowed: no')
    assert refusal.details() == {
        'hw\n': {'code': 'unknown', 'reason': 'not an image property'},
        'hw_pmu': {'code': 'denied', 'reason': 'denied by this cloud'},
        'os_type': {'code': 'not_allowed', 'reason': 'no'}}
    assert list(refusal.details()) == ['hw\n', 'hw_pmu', 'os_type']


def test_the_codes_of_the_contract_keep_their_spelling():
    codes = {name: value for name, value in vars(errors).items()
             if name.isupper() and name not in (
                 'PARAMETER', 'PRESET')
             and isinstance(value, str)}
    published = {
        'unknown', 'legacy_name', 'list_field', 'invalid_type',
        'invalid_value', 'too_long', 'too_many', 'numa_gap', 'unreadable',
        'flavor_conflict', 'property_conflict', 'version_missing', 'not_here',
        'never', 'denied',
        'not_allowed', 'value_not_allowed', 'policy', 'numa_change',
        'host_not_ready', 'duplicate', 'injected', 'protected', 'no_effect',
        'create_only', 'unschedulable', 'scheduler_unavailable',
        'wrong_state', 'needs_claim', 'needs_rebuild', 'unknown_preset',
        'preset_not_allowed', 'left_out'}
    # A new one must be added here, and none may be removed.
    assert set(codes.values()) == published
    assert errors.PARAMETER == 'image_props_override'
    assert errors.PRESET == 'image_props_override_preset'
    for name, value in codes.items():
        assert value == name.lower()


def test_an_unsupported_nova_stops_the_start():
    assert issubclass(errors.UnsupportedNova, errors.StartupError)
    assert not issubclass(errors.StartupError, errors.OverrideError)


def test_a_presets_part_in_it_is_told():
    refused = errors.refusal([
        errors.Problem('a', errors.DENIED, 'why'),
        errors.Problem('b', errors.NOT_ALLOWED, 'why')], ['c'])
    told = refused.ascribed_to('windows', {'b', 'c'})
    assert isinstance(told, errors.Forbidden)
    assert {name: said['reason'] for name, said in told.details().items()} == {
        'a': 'why', 'b': 'of preset windows: why'}
    assert str(told) == str(refused).replace(
        'not_allowed: why', 'not_allowed: of preset windows: why')


def test_an_error_that_an_answer_has_room_for_stays_whole():
    error = errors.Invalid.of(
        map(str, range(128)), errors.UNKNOWN, 'x' * 100)
    assert error.bounded() is error


@hypothesis.given(
    strategies.any_text, hypothesis.strategies.integers(0, 3000),
    hypothesis.strategies.integers(0, 120))
def test_an_error_is_bounded_whatever_its_names_and_reasons(
        text, length, unchecked):
    error = errors.Conflict(
        (errors.Problem(f'{text}{number}', 'code', 'r' * length)
         for number in range(128)), ['n' * 219] * unchecked)
    bounded = error.bounded()
    answer = {'conflictingRequest': {
        'code': 409, 'message': str(bounded), errors.PARAMETER:
        bounded.details()}}
    assert len(json.dumps(answer)) <= errors.ANSWER_MAX
    assert type(bounded) is errors.Conflict
    left = bounded.details().get(errors.PARAMETER)
    if left:
        assert left['code'] == errors.LEFT_OUT
        assert left['reason'].startswith(
            f'no room for {129 - len(bounded.problems)} of 128 problems ')
        assert len(error.logged) < len(str(error))


def test_a_log_line_is_cut_and_says_so():
    error = errors.Invalid.of(map(str, range(500)), errors.UNKNOWN, 'why')
    assert error.logged.startswith('0: unknown, 1: unknown, 10: unknown')
    assert error.logged.endswith(' [...]')
    assert len(error.logged) < 1600
    assert 'why' not in error.logged
