"""How a request names the extension, and what the answer says about it."""

from tempest.lib import decorators
from tempest.lib import exceptions
from testtools import matchers

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override_tempest_plugin.tests import base


class VersionsTest(base.BaseOverridesTest):
    """OpenStack-API-Version, on a list of servers."""

    def ask(self, version):
        """Return the response to a request that names VERSION, or None."""
        # Without a choice of [compute] min_microversion, Nova's first.
        entries = [f'compute {self.request_microversion or "2.1"}']
        if version is not None:
            entries.append(f'{versions.SERVICE_TYPE} {version}')
        response, _ = self.plain_servers_client.get(
            'servers', extra_headers=True,
            headers={versions.HEADER: ', '.join(entries)})
        return response

    def named(self, version):
        """Return what the answer names besides Nova's version."""
        nova, *rest = self.ask(version)[versions.HEADER.lower()].split(', ')
        self.assertThat(nova, matchers.MatchesRegex('compute 2[.][0-9]+$'))
        return rest

    @decorators.idempotent_id('9f0ef2c4-f646-4864-bed6-af81869d574d')
    def test_the_answer_names_the_version_beside_novas(self):
        newest = self.discovery_client.show_offer()[
            errors.PARAMETER]['max_version']
        for asked, named in ('1.0', '1.0'), ('latest', newest):
            self.assertEqual(
                [f'{versions.SERVICE_TYPE} {named}'], self.named(asked))

    @decorators.idempotent_id('20e79366-5566-4d7d-a711-f680f6df475f')
    def test_who_does_not_name_the_extension_is_not_told_of_it(self):
        self.assertEqual([], self.named(None))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('3e5e4ce1-9f72-48cc-89a2-e498a1ec1a6d')
    def test_a_version_out_of_range_is_refused_with_the_range(self):
        offer = self.discovery_client.show_offer()[errors.PARAMETER]
        caught = self.assertRaises(
            exceptions.NotAcceptable, self.ask, '99.0')
        self.assertIn(offer['min_version'], str(caught))
        self.assertIn(offer['max_version'], str(caught))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('3e37bc90-ebc4-452f-855d-018ec5dc47e0')
    def test_what_is_not_a_version_is_refused(self):
        for version in 'newest', '1', '1.0.0', '-1.0':
            self.assertRaises(
                exceptions.BadRequest, self.ask, version)
