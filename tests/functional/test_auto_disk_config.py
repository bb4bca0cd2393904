"""The merged properties decide whether a server's disk is resized."""

from testing.harness import base


class AutoDiskConfig(base.TestCase):
    """Nova looks at an image's auto_disk_config before overrides merge."""

    BUILD = False

    def auto(self, overrides, image):
        return self.create(
            overrides, image=image, server={'OS-DCF:diskConfig': 'AUTO'})

    def test_what_the_override_says_counts(self):
        disabled = self.image(auto_disk_config='disabled')
        self.assertEqual(400, self.auto(None, disabled).status)
        for value in ('true', 'false', None):
            self.assertEqual(202, self.auto(
                {'hw_auto_disk_config': value}, disabled).status, value)

    def test_an_override_that_disables_it_refuses(self):
        answer = self.auto({'hw_auto_disk_config': 'disabled'}, self.image())
        self.assertEqual(400, answer.status, answer.text)
        self.assert_nothing_created()

    def test_the_disk_is_configured_as_asked(self):
        answer = self.auto({'hw_auto_disk_config': 'true'},
                           self.image(auto_disk_config='disabled'))
        server = self.http(
            'GET', f'/servers/{answer.body["server"]["id"]}').body['server']
        self.assertEqual('AUTO', server['OS-DCF:diskConfig'])
