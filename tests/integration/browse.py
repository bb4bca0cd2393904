"""A tenant of the cloud in Horizon, in a browser.

``python -m tests.integration.browse URL USER`` runs in Horizon's environment,
reads the password from its input, launches a server, and prints what Horizon
shows as one line of JSON.
"""

import json
import sys

from tests.dashboard import browser as browser_module
from tests.dashboard import wizard as wizard_module


def browse(browser, user, password):
    """Return what is seen, by what it is."""
    seen = {}
    wizard = wizard_module.Wizard(browser)
    wizard.open(user, password)
    wizard.fill('test-guest', 'guest', 'small')
    seen['offered'] = {name: wizard.offers(name) for name in (
        'hw_disk_bus', 'hw_rng_model', 'hw_numa_nodes')}
    wizard.set('hw_disk_bus', 'scsi')
    wizard.set('hw_scsi_model', 'virtio-scsi')
    wizard.set('hw_cpu_cores', '3')
    wizard.wait_for_state('refused')
    seen['refused'] = wizard.error('hw_cpu_cores')
    seen['can launch'] = wizard.can_launch()
    wizard.reset('hw_cpu_cores')
    wizard.wait_for_state('accepted')
    seen['launched'] = wizard.launch()
    browser.open('/project/instances/')
    seen['badge'] = browser.find('.image-props-badge').text
    browser.click('.image-props-badge')
    browser.find('.image-props-tab table')
    seen['tab'] = browser.texts('.image-props-tab tbody tr')
    seen['complaints'] = browser.complaints()
    return seen


if __name__ == '__main__':
    url, user = sys.argv[1:]
    with browser_module.running() as driver:
        print(json.dumps(browse(
            browser_module.Browser(url, driver), user, input())))
