"""How much a refusal says, and to whom: in the answer, and in the log."""

import logging

import fixtures
import pytest

from nova_image_override import errors
from tests.functional import update_case

#: As many as a request may name, each as long as Nova can store.
LONG = {f'trait:CUSTOM_{number:0206}': 'required' for number in range(128)}
SHORT = {f'trait:CUSTOM_{number}': 'required' for number in range(128)}


class Cloud(update_case.Cloud):
    def setUp(self):
        super().setUp()
        self.logs = [
            self.useFixture(fixtures.FakeLogger(
                name, logging.INFO, format='%(message)s', nuke_handlers=False))
            for name in ('nova.api', 'nova_image_override')]

    def logged(self):
        """Return what nova-api has logged since the last call."""
        # reset_output leaves zeros.
        found = ''.join(each.output for each in self.logs).replace('\0', '')
        for each in self.logs:
            each.reset_output()
        return found


class TestSize:
    @pytest.fixture
    def refused(self, cloud):
        """Return a function: overrides -> answer of each way to refuse them."""
        stopped, active = cloud.stopped(), cloud.boot()
        return lambda overrides: [
            change(server, overrides) for change, server in (
                (cloud.update, stopped), (cloud.rebuild, active))]

    def test_each_reason_names_its_own_trait_alone(self, refused):
        for answer in refused(SHORT):
            assert answer.problems == dict.fromkeys(SHORT, 'unschedulable')
            for name, reason in answer.reasons.items():
                assert reason.count('CUSTOM_') == 1
                assert f'the trait {name.removeprefix("trait:")},' in reason

    def test_an_answer_is_bounded_and_says_what_it_leaves_out(self, refused):
        for answer in refused(LONG):
            assert answer.status == 409
            size = len(answer.response.content)
            assert errors.ANSWER_MAX * 0.9 < size <= errors.ANSWER_MAX
            left = answer.reasons[errors.PARAMETER]
            assert answer.problems.pop(errors.PARAMETER) == 'left_out'
            named = len(answer.problems) - 1
            assert left.startswith(f'no room for {128 - named} of 128 problems')
            assert left in answer.message

    @pytest.mark.parametrize('overrides', [
        {'\U0001f600' * 9_000: 'x'}, {'a' * 100_000: 'x'},
        {f'{number}\0' * 100: 'x' for number in range(128)}])
    def test_so_is_one_about_names_that_no_property_has(
            self, cloud, overrides):
        answer = cloud.create(overrides).expect(400)
        assert len(answer.response.content) <= errors.ANSWER_MAX

    def test_the_log_of_a_request_is_bounded_too(self, cloud):
        server = cloud.stopped()
        for overrides in (SHORT, LONG, {'\n' * 80 + str(each): 'x'
                                        for each in range(128)}):
            cloud.logged()
            cloud.update(server, overrides)
            logged = cloud.logged()
            assert logged.count(' [...]') == 2
            assert len(logged.encode()) <= 4096


class TestLogged:
    """What an answer quotes, and the log does not."""

    OPTIONS = {'allowed_properties': ['hw_*', 'os_command_line=quiet'],
               'denied_properties': ['os_command_line=*password*']}

    @pytest.mark.parametrize(('overrides', 'status'), [
        ({'os_command_line': 'password=secret'}, 403),
        ({'os_command_line': 'secret'}, 403),
        ({'hw_disk_bus': 'secret'}, 400)])
    def test_no_value_of_a_refused_request(self, cloud, overrides, status):
        server = cloud.boot()
        cloud.logged()
        answers = (
            cloud.create(overrides), cloud.rebuild(server, overrides),
            cloud.check(overrides))
        logged = cloud.logged()
        assert 'secret' not in logged
        for answer in answers:
            answer.expect(status)
            ((name, code),) = answer.problems.items()
            # Each by the audit, and by Nova; a check is not audited.
            assert logged.count(f'{name}: {code}') == 5

    @pytest.mark.parametrize('flavored', [True, False])
    def test_no_value_of_flavor_or_image(self, cloud, flavored):
        cloud.create(
            {'hw_cpu_max_sockets': '12345'}, flavor=cloud.flavor(
                **{'hw__cpu_max_sockets': '4321'} if flavored else {}),
            image=cloud.image(hw_cpu_sockets='23456')).expect(400)
        assert not {'12345', '4321', '23456'} & {*cloud.logged().split()}


class TestHost:
    """What a user who may ask for few traits finds out of a host."""

    OPTIONS = {'allowed_properties': ['trait:CUSTOM_MINE']}

    def test_what_the_rules_refuse_is_not_asked_of_it(self, cloud):
        server = cloud.stopped()
        told = cloud.assert_refused_unchanged(
            server, 409, {'trait:CUSTOM_MINE': 'unschedulable'},
            {'trait:CUSTOM_MINE': 'required'})
        assert 'lacks the trait CUSTOM_MINE,' in told.message
        held, absent = (cloud.assert_refused_unchanged(
            server, 403, {name: 'not_allowed'},
            {'trait:CUSTOM_MINE': 'required', name: 'required'})
            for name in ('trait:COMPUTE_NODE', 'trait:COMPUTE_XXXX'))
        assert held.text == absent.text.replace('XXXX', 'NODE')
