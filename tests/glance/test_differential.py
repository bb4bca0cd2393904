"""Our reader against Glance's own PropertyRules, on files at random."""

import collections
import json
import logging
import pathlib
import random
import subprocess
import tempfile
import unittest

from nova_image_override import errors
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.glance import property_protections
from tests.glance import files
from tests.glance import real

COUNT = {
    property_protections.ROLES: 10_000,
    property_protections.POLICIES: 2_500,
}


class Reader:
    """Glance's reader, in Glance's environment."""

    def __init__(self):
        self._process = subprocess.Popen(
            [real.python(), '-W', 'ignore', real.SERVER / 'verdicts.py'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=None)

    def ask(self, query):
        self._process.stdin.write(json.dumps(query) + '\n')
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, 'Glance\'s reader has ended'
        return json.loads(answer)

    def close(self):
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


class TestDifferential(unittest.TestCase):
    """The same verdicts, except for the differences that are intended."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, 'protections.conf')
        self.policy_file = pathlib.Path(folder.name, 'policy.yaml')
        self.policy_file.write_text(files.policy_yaml())
        self.glance = Reader()
        self.addCleanup(self.glance.close)
        self.counts = collections.Counter()
        # Undefined policies are logged, here by the thousand.
        logging.disable(logging.WARNING)
        self.addCleanup(logging.disable, logging.NOTSET)

    def test_roles(self):
        self.compare(property_protections.ROLES)

    def test_policies(self):
        self.compare(property_protections.POLICIES)

    def compare(self, rule_format):
        chance = random.Random(33)  # noqa: S311
        for number in range(COUNT[rule_format]):
            text = files.protections(chance, rule_format)
            self.file.write_text(text, newline='')
            theirs = self.glance.ask({
                'file': str(self.file), 'format': rule_format,
                'policy_file': str(self.policy_file),
                'names': files.NAMES, 'callers': files.CALLERS})
            try:
                ours = property_protections.load(
                    str(self.file), rule_format, str(self.policy_file)
                    if rule_format == property_protections.POLICIES else None)
            except errors.StartupError as exc:
                self.refused(str(exc), theirs, text)
            else:
                self.counts['files that both take'] += 1
                self.assertIsNotNone(theirs, (number, text))
                self.verdicts(ours, theirs, text)
        # Each difference must have been met, or nothing was compared.
        for met in ('files that both take', 'files that both refuse',
                    'empty: refused here', 'costly: refused here',
                    'service role: denied here', 'same verdicts'):
            self.assertGreater(self.counts[met], 0, met)
        if rule_format == property_protections.POLICIES:
            self.assertGreater(self.counts['undefined: denied here'], 0)
        print(f'\n{rule_format}: {COUNT[rule_format]} files: '
              + ', '.join(f'{count} {what}'
                          for what, count in sorted(self.counts.items())))

    def refused(self, why, theirs, text):
        """Account for a file that we refuse."""
        if theirs is None:
            self.counts['files that both refuse'] += 1
        elif 'is empty' in why:
            # The first difference: Glance then denies everything.
            self.counts['empty: refused here'] += 1
            self.assertFalse(any(
                may for of_caller in theirs
                for name, may in zip(files.NAMES, of_caller, strict=True)
                if 'os_glance' not in name))
        else:
            # Refused for what it could cost, no matter what it permits.
            self.assertIn('could take too long', why, text)
            self.counts['costly: refused here'] += 1

    def verdicts(self, ours, theirs, text):
        undefined = frozenset() if ours.policies is None \
            else ours.policies.undefined
        for caller, of_caller in zip(files.CALLERS, theirs, strict=True):
            asking = Caller(lambda rule: True, credentials={
                'roles': caller['roles'], 'user_id': 'user',
                'project_id': 'project'})
            for name, may in zip(files.NAMES, of_caller, strict=True):
                for operation in property_protections.OPERATIONS:
                    here = ours.permits(name, operation, asking)
                    there = operation[0] in may
                    if here == there:
                        self.counts['same verdicts'] += 1
                        continue
                    # Wherever they differ, it is we who deny.
                    self.assertTrue(there, (name, operation, caller, text))
                    said = ours.section(name).permissions[operation]
                    if undefined.intersection(said):
                        self.counts['undefined: denied here'] += 1
                    else:
                        self.assertTrue(
                            caller['service_roles'],
                            (name, operation, caller, text))
                        self.counts['service role: denied here'] += 1
