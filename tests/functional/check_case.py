"""A cloud that is asked what a create would get."""

from nova_image_override import versions
from testing.harness import base


class Cloud(base.Cloud):
    def told(self, *args, **kwargs):
        """Return the answer of a check that is not refused."""
        answer = self.check(*args, **kwargs).expect(200)
        assert list(answer.body) == [base.PARAMETER]
        return answer.body[base.PARAMETER]

    def assert_as_create(self, body, status, **kwargs):
        checked, created = (
            self.http('POST', path, body, **kwargs)
            for path in (versions.CHECK_PATH, '/servers'))
        created.expect(status)
        assert (checked.status, checked.text) == (status, created.text)
        self.assert_nothing_created()
