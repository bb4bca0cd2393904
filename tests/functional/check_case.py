"""A cloud that is asked what a create would get."""

from nova_image_override import versions
from testing.harness import base


class Cloud(base.Cloud):
    def check(self, overrides=None, *, image=base.IMAGE, flavor=None,
              server=None, **kwargs):
        """POST /image-props-override/check, with the body of a create."""
        return self.http('POST', versions.CHECK_PATH, self.server_body(
            overrides, image, flavor, **(server or {})), **kwargs)

    def told(self, *args, **kwargs):
        """Return the answer of a check that is not refused."""
        answer = self.check(*args, **kwargs)
        assert answer.status == 200, answer.text
        assert list(answer.body) == [base.PARAMETER]
        return answer.body[base.PARAMETER]

    def assert_as_create(self, body, status, **kwargs):
        checked, created = (
            self.http('POST', path, body, **kwargs)
            for path in (versions.CHECK_PATH, '/servers'))
        assert created.status == status, body
        assert (checked.status, checked.text) == (status, created.text)
        self.assert_nothing_created()
