"""How fast the step in Horizon's Launch Instance answers a user.

``make dashboard-up`` prints Horizon's address, and::

    .venv/dashboard-27/bin/python -m benchmarks.horizon http://127.0.0.1:PORT

prints the milliseconds from an input to the frame that shows its result, in
Chromium. The cloud's answers are not included.
"""

import argparse
import statistics

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support import ui

_ARGUMENTS = ('--headless=new', '--no-sandbox', '--disable-dev-shm-usage',
              '--disable-gpu', '--window-size=1280,960')

#: Does something, and waits until a selector finds the result: as many elements
#: as given, or any if the number is not known.
_MEASURE = '''
const [act, shown, count, done] = arguments;
const start = performance.now();
(new Function(act))();
(function look() {
  const found = document.querySelectorAll(shown).length;
  if (count === null ? found > 0 : found === count) {
    requestAnimationFrame(() => setTimeout(
      () => done(performance.now() - start)));
  } else {
    setTimeout(look);
  }
})();
'''

#: Types into the search field as a keyboard does.
_SEARCH = '''
const field = document.querySelector('#image-props-search');
field.value = '%s';
field.dispatchEvent(new Event('input', {bubbles: true}));
'''

#: Types a number.
_VALUE = '''
const field = document.querySelector('[data-property=hw_cpu_cores] input');
field.value = '%s';
field.dispatchEvent(new Event('input', {bubbles: true}));
'''

_ROW = '.image-props-row'
_CHIP = '.image-props-chip'


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog='benchmarks.horizon')
    parser.add_argument('url', help='of Horizon')
    parser.add_argument('--user', default='admin')
    parser.add_argument('--rounds', type=int, default=20)
    args = parser.parse_args()
    options = webdriver.ChromeOptions()
    for argument in _ARGUMENTS:
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options)
    try:
        driver.set_script_timeout(60)
        _open(driver, args.url, args.user)
        _report(driver, args.rounds)
    finally:
        driver.quit()


def _open(driver: webdriver.Chrome, url: str, user: str) -> None:
    """Log in, and go to the step."""
    wait = ui.WebDriverWait(driver, 120)

    def click(by: str, where: str) -> None:
        wait.until(expected_conditions.element_to_be_clickable(
            (by, where))).click()

    driver.get(f'{url}/auth/login/')
    driver.find_element(By.ID, 'id_username').send_keys(user)
    driver.find_element(By.ID, 'id_password').send_keys(user + Keys.ENTER)
    wait.until(lambda driver: '/auth/login' not in driver.current_url)
    driver.get(f'{url}/project/instances/')
    click(By.ID, 'instances__action_launch-ng')
    click(By.XPATH, '//li[contains(@class, "nav-item")]'
                    '//span[normalize-space()="Image Properties"]')
    wait.until(expected_conditions.visibility_of_element_located(
        (By.ID, 'image-props-search')))


def _report(driver: webdriver.Chrome, rounds: int) -> None:
    def take(act: str, shown: str, count: int | None) -> float:
        return driver.execute_async_script(_MEASURE, act, shown, count)

    # Every name has an underscore, so this shows every property.
    take(_SEARCH % '_', _ROW, None)
    everything = len(driver.find_elements(By.CSS_SELECTOR, _ROW))
    print(f'{everything} properties')
    kinds: dict[str, list[float]] = {
        'search, from all to one': [], 'search, from one to all': [],
        'a value among all': [], 'no value again': []}
    for _ in range(rounds):
        for kind, act, shown, count in (
                ('search, from all to one', _SEARCH % 'hw_cpu_cores', _ROW, 1),
                ('search, from one to all', _SEARCH % '_', _ROW, everything),
                ('a value among all', _VALUE % '2', _CHIP, 1),
                ('no value again', _VALUE % '', _CHIP, 0)):
            kinds[kind].append(take(act, shown, count))
    for kind, times in kinds.items():
        print(f'{kind}: median {statistics.median(times):.0f} ms, '
              f'longest {max(times):.0f} ms')


if __name__ == '__main__':
    main()
