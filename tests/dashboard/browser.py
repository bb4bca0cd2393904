"""A real browser, headless, as a user of Horizon has."""
from __future__ import annotations

import collections.abc
import contextlib
import pathlib
import shutil
import typing

import pytest
from selenium import webdriver
from selenium.common import exceptions
from selenium.webdriver.chrome import service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support import ui

#: Seconds that a page may take. Nothing waits longer than it must.
PATIENCE = 120

_ARGUMENTS = ('--headless=new', '--no-sandbox', '--disable-dev-shm-usage',
              '--disable-gpu', '--window-size=1280,960',
              '--force-device-scale-factor=1', '--hide-scrollbars')

#: What Horizon itself writes to the browser's console, with or without us.
_HORIZONS_OWN = ('JQMIGRATE',)

Condition = collections.abc.Callable[[webdriver.Chrome], typing.Any]


class Browser:
    """One session of Chromium, and where it is in Horizon.

    :param url: of Horizon
    """

    def __init__(self, url: str, driver: webdriver.Chrome) -> None:
        self.url = url
        self.driver = driver

    def log_in(self, user: str, password: str | None = None) -> None:
        """Log in.

        :param password: by default the name, as users of testing.site have it
        :raises AssertionError: Horizon says why not
        """
        self.driver.get(f'{self.url}/auth/login/')
        self.find('#id_username').send_keys(user)
        self.find('#id_password').send_keys((password or user) + Keys.ENTER)
        self.until(lambda driver: '/auth/login' not in driver.current_url
                   or self.shown('.alert-danger'), 'the log-in')
        assert '/auth/login' not in self.driver.current_url, self.texts(
            '.alert-danger')

    def open(self, path: str) -> None:
        """Go to a page of Horizon."""
        self.driver.get(self.url + path)

    # --- finding ------------------------------------------------------------

    def until(self, condition: Condition, what: object = '') -> typing.Any:
        """Wait for a condition; return what it returns."""
        def now(driver: typing.Any) -> typing.Any:
            try:
                return condition(driver)
            except exceptions.WebDriverException as exc:
                # So chromedriver calls some elements that have gone since they
                # were found, others stale.
                if 'does not belong to the document' in str(exc.msg):
                    return False
                raise

        try:
            return ui.WebDriverWait(
                self.driver, PATIENCE, poll_frequency=0.1,
                ignored_exceptions=[
                    exceptions.NoSuchElementException,
                    exceptions.StaleElementReferenceException,
                ]).until(now)
        except exceptions.TimeoutException:
            raise AssertionError(
                f'waited {PATIENCE} s for {what or condition}') from None

    def find(self, selector: str) -> WebElement:
        """Wait until an element is shown; return it."""
        return self.until(expected_conditions.visibility_of_element_located(
            (By.CSS_SELECTOR, selector)), selector)

    def shown(self, selector: str) -> list[WebElement]:
        """Return the elements that are shown now."""
        return [each for each in self.driver.find_elements(
            By.CSS_SELECTOR, selector) if each.is_displayed()]

    def texts(self, selector: str) -> list[str]:
        """Return the texts of the elements that are shown now."""
        return [each.text for each in self.shown(selector)]

    def click(self, selector: str) -> None:
        """Click on an element as soon as that can be done."""
        self._click(By.CSS_SELECTOR, selector)

    def click_path(self, xpath: str) -> None:
        """Click on the element at an XPath as soon as that can be done."""
        self._click(By.XPATH, xpath)

    def _click(self, by: str, where: str) -> None:
        def clicked(driver: webdriver.Chrome) -> bool:
            try:
                driver.find_element(by, where).click()
            except (exceptions.ElementClickInterceptedException,
                    exceptions.ElementNotInteractableException):
                return False
            return True
        self.until(clicked, f'to click {where}')

    def write(self, field: WebElement, text: str) -> None:
        """Type text into a field, in place of what is there."""
        # In two calls: a key like Ctrl is held until the end of one.
        field.send_keys(Keys.CONTROL + 'a')
        field.send_keys(Keys.DELETE + text)

    def is_enabled(self, selector: str) -> bool:
        """Return whether the element can be used."""
        return self.find(selector).is_enabled()

    # --- looking ------------------------------------------------------------

    def screenshot(
        self, path: pathlib.Path, selector: str | None = None,
    ) -> None:
        """Save a picture of the page, or of one element of it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if selector:
            self.find(selector).screenshot(str(path))
        else:
            self.driver.save_screenshot(str(path))

    def complaints(self) -> list[str]:
        """Return what was written to the console since the last call."""
        return [entry['message'] for entry in self.driver.get_log('browser')
                if entry['level'] in ('WARNING', 'SEVERE')
                and not any(own in entry['message']
                            for own in _HORIZONS_OWN)]


@contextlib.contextmanager
def running() -> collections.abc.Iterator[webdriver.Chrome]:
    """Run Chromium for the duration of the context.

    Fails the test that asks for it if Debian's packages are not installed: what
    cannot run must not pass.
    """
    programs = {name: shutil.which(name)
                for name in ('chromium', 'chromedriver')}
    if None in programs.values():
        pytest.fail('there is no browser: install Debian\'s packages chromium '
                    'and chromium-driver', pytrace=False)
    options = webdriver.ChromeOptions()
    for argument in _ARGUMENTS:
        options.add_argument(argument)
    options.binary_location = str(programs['chromium'])
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    driver = webdriver.Chrome(
        options=options,
        service=service.Service(str(programs['chromedriver'])))
    try:
        yield driver
    finally:
        driver.quit()
