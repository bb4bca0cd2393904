"""What the table of docs/source/user/nfv-start.rst says of flavors."""

import pytest

from testing import nfv_goals
from testing import release
from testing.harness import base
from testing.harness import nfv_hosts
from tests.functional import check_case

GOALS = nfv_goals.read()


class Cloud(check_case.Cloud):
    OPTIONS = {'allowed_properties': ['*']}

    def setUp(self):
        self.flags(group='pci', **nfv_hosts.PCI)
        super().setUp()

    def goal(self, goal, specs):
        return self.check(goal.overrides, flavor=self.flavor(4, 2048, **{
            name.replace(':', '__'): value for name, value in specs.items()}))


class TestGoals:
    BUILD = False

    @pytest.mark.parametrize('goal', GOALS, ids=str)
    def test_the_flavor_takes_the_override(self, cloud, goal):
        release.need(*goal.overrides)
        answer = cloud.goal(goal, goal.specs).expect(200)
        assert answer.body[base.PARAMETER]['overridden'].keys() == (
            goal.overrides.keys())

    # A port may ask for the device, too.
    @pytest.mark.parametrize('goal', [
        goal for goal in GOALS if goal.specs
        and 'hw_pci_numa_affinity_policy' not in goal.overrides], ids=str)
    def test_without_what_the_flavor_says_it_is_refused(self, cloud, goal):
        answer = cloud.goal(goal, {}).expect(400)
        assert answer.problems.keys() == goal.overrides.keys()
