"""Debian's mtail and promtool, on the examples in share/."""

import json
import os
import shutil
import subprocess

import pytest
import yaml

from nova_image_override import errors
from tests import environments
from tests.kits import kit

EXAMPLES = environments.ROOT / 'share' / 'nova-image-override'

PREFIX = ('2026-11-22 14:16:27.042 7 INFO nova_image_override.api.audit '
          '[None req-1] ')


def installed(name):
    # Debian's own, or a developer's.
    path = shutil.which(name)
    if path is None:
        pytest.skip(f'{name} is not installed')
    return path


def counted(tmp_path, *lines):
    """Return mtail's counters after these lines, by name or by code."""
    program = installed('mtail')
    log = tmp_path / 'nova-api.log'
    log.write_text(''.join(f'{line}\n' for line in lines))
    done = subprocess.run(
        [program, '--one_shot', '--one_shot_format', 'json', '--logtostderr',
         '--progs', EXAMPLES / 'image_override.mtail', '--logs', log],
        capture_output=True, text=True, check=True, env={
            **os.environ, 'TMPDIR': str(tmp_path)})
    found = {}
    for (metrics,) in json.loads(
            done.stdout[done.stdout.index('{'):]).values():
        for value in metrics.get('LabelValues') or ():
            name = (value.get('Labels') or [metrics['Name']])[0]
            found[name] = value['Value']['Value']
    return {name: value for name, value in found.items() if value}


def test_mtail_counts_every_code_of_a_refusal(tmp_path):
    assert counted(
        tmp_path, f'{PREFIX}Image property overrides refused: '
        f'hw_disk_bus: {errors.DENIED}, trait:HW_CPU: {errors.HOST_NOT_READY}'
    ) == {'image_override_refusals_total': 1,
          errors.DENIED: 1, errors.HOST_NOT_READY: 1}


def test_mtail_counts_changes_and_starts_that_failed(tmp_path):
    assert counted(
        tmp_path,
        f'{PREFIX}[instance: 1] Image properties overridden at boot: x, y',
        f'{PREFIX}[instance: 2] Image properties overridden at boot: x',
        f'{PREFIX}[instance: 1] Image properties overridden by the rebuild: x',
        f'{PREFIX}[instance: 1] Image properties overridden by the update: x',
        '2026-11-22 14:16:27.042 7 CRITICAL nova_image_override.api.router '
        '[-] nova-image-override: allowed_properties: malformed') == {
            'image_override_boots_total': 2,
            'image_override_rebuilds_total': 1,
            'image_override_updates_total': 1,
            'image_override_start_failures_total': 1}


def test_mtail_counts_nothing_else(tmp_path):
    values = PREFIX.replace('INFO', 'DEBUG')
    assert counted(
        tmp_path, f'{PREFIX}Fault thrown: Invalid input for field name',
        f'{values}Image properties overridden at boot: x=1',
        f'{PREFIX}"POST /v2.1/servers" status: 202') == {}


def test_every_alert_is_raised_by_what_it_is_for(tmp_path):
    rules = yaml.safe_load((EXAMPLES / 'alerts.yml').read_text())
    names = {rule['alert'] for group in rules['groups']
             for rule in group['rules']}
    code = 'image_override_refused_codes_total{code="%s"}'
    raised = {
        'ImageOverrideStartRefused': {
            'image_override_start_failures_total': '0x5 1x200'},
        'ImageOverrideComputeWithoutPart': {
            'image_override_computes_missing': '2x200'},
        'ImageOverrideHostNotReady': {
            code % errors.HOST_NOT_READY: '0x5 1x200'},
        'ImageOverrideSchedulerUnavailable': {
            code % errors.SCHEDULER_UNAVAILABLE: '0x5 1x200'},
        'ImageOverrideRefusals': {
            'image_override_refusals_total': '0+5x200',
            'image_override_boots_total': '0+1x200'},
    }
    assert set(raised) == names
    tests = []
    for name, series in raised.items():
        at = '8m' if 'x5 ' in next(iter(series.values())) else '80m'
        tests.append({
            'interval': '1m',
            'input_series': [{'series': each, 'values': values}
                             for each, values in series.items()],
            'promql_expr_test': [{
                'expr': f'count(ALERTS{{alertname="{name}",'
                        'alertstate="firing"})',
                'eval_time': at,
                'exp_samples': [{'labels': '{}', 'value': 1}]}]})
    path = tmp_path / 'test.yml'
    path.write_text(yaml.safe_dump({
        'rule_files': [str(EXAMPLES / 'alerts.yml')],
        'evaluation_interval': '1m', 'tests': tests}))
    promtool = installed('promtool')
    kit.run(promtool, 'check', 'rules', EXAMPLES / 'alerts.yml')
    kit.run(promtool, 'test', 'rules', path)
