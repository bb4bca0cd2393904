"""The merged properties decide whether a server's disk is resized."""

from testing.harness import base


class Cloud(base.Cloud):
    def auto(self, overrides, image):
        return self.create(
            overrides, image=image, server={'OS-DCF:diskConfig': 'AUTO'})


class TestAutoDiskConfig:
    """Nova looks at an image's auto_disk_config before overrides merge."""

    BUILD = False

    def test_what_the_override_says_counts(self, cloud):
        disabled = cloud.image(auto_disk_config='disabled')
        assert cloud.auto(None, disabled).status == 400
        for value in ('true', 'false', None):
            assert cloud.auto({'hw_auto_disk_config': value},
                              disabled).status == 202, value

    def test_an_override_that_disables_it_refuses(self, cloud):
        answer = cloud.auto({'hw_auto_disk_config': 'disabled'}, cloud.image())
        assert answer.status == 400, answer.text
        cloud.assert_nothing_created()

    def test_the_disk_is_configured_as_asked(self, cloud):
        answer = cloud.auto({'hw_auto_disk_config': 'true'},
                            cloud.image(auto_disk_config='disabled'))
        server = cloud.http(
            'GET', f'/servers/{answer.body["server"]["id"]}').body['server']
        assert server['OS-DCF:diskConfig'] == 'AUTO'
