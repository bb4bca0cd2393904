"""What the chart of OpenStack-Helm takes of the example.

Read in openstack-helm, nova/ at commit 6ac304d: Helm ignores what it does not
know.
"""

import pytest

from tests.kits import kit

#: Of the images.tags in values.yaml, those of deployment-api-osapi.yaml and
#: daemonset-compute.yaml.
IMAGES = {'nova_api', 'nova_compute'}

#: Keys of conf in values.yaml that configmap-etc.yaml makes api-paste.ini and
#: nova.conf of; the first has a section of this name there.
FILES = {'paste', 'nova'}


@pytest.fixture
def values():
    return kit.read('openstack-helm/values.yaml')


def test_both_images_are_those_that_the_pods_run(values):
    assert set(values) == {'conf', 'images'}
    assert set(values['images']) == {'tags'}
    assert set(values['images']['tags']) == IMAGES
    # The same image has both commands.
    assert len(set(values['images']['tags'].values())) == 1


def test_what_goes_into_files_is_text(values):
    """Its template to_oslo_conf writes lists and mappings in another way."""
    assert set(values['conf']) == FILES
    assert set(values['conf']['paste']) == {kit.SECTION}
    for sections in values['conf'].values():
        for options in sections.values():
            assert all(isinstance(each, str) for each in options.values())
