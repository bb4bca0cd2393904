"""Horizon's Launch Instance, with the step of the plugin."""
from __future__ import annotations

import typing

from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support import ui

from tests.dashboard import browser as browser_module

STEP = 'Image Properties'

#: The button of a row, in a table from which something is chosen.
_CHOICE = ("//ng-include[@ng-form='{form}']"
           "//div[contains(@class,'transfer-available')]"
           "//tr[td[normalize-space()='{text}' "
           "or .//*[normalize-space()='{text}']]]//action-list//button")


#: What the search field has passed to its model (AngularJS waits).
_SEARCHED = '''
return angular.element(document.querySelector('#image-props-search'))
  .controller('ngModel').$modelValue;
'''


_LAUNCH = """
var button = document.querySelector('.modal-footer .finish');
button.disabled = false;
button.click();
"""


class Wizard:
    """The wizard in a browser.

    :ivar browser: where it is
    """

    def __init__(self, browser: browser_module.Browser) -> None:
        self.browser = browser

    def open(self, user: str, password: str | None = None) -> None:
        """Log in, and open the wizard."""
        self.browser.log_in(user, password)
        self.browser.open('/project/instances/')
        self.browser.click('#instances__action_launch-ng')
        self.browser.find('.modal-dialog .ng-wizard .nav-item')

    def steps(self) -> list[str]:
        """Return the titles of the steps."""
        return self.browser.texts('.ng-wizard .nav-item')

    def step(self, title: str) -> None:
        """Go to a step."""
        self.browser.click_path(
            '//li[contains(@class,"nav-item")]'
            f'//span[normalize-space()="{title}"]')

    def fill(
        self, name: str = 'guest', source: str = 'debian',
        flavor: str = 'two-cpus',
    ) -> None:
        """Choose all that a launch needs; there is one network."""
        self.step('Details')
        self.browser.find('input[name=name]').send_keys(name)
        self.choose('Source', 'launchInstanceSourceForm', source)
        self.choose('Flavor', 'launchInstanceFlavorForm', flavor)
        self.step(STEP)
        self.browser.find('.image-props-editor')

    def begin(self, user: str, **chosen: str) -> None:
        """Open the wizard as a user whose password is the name, and fill it."""
        self.open(user)
        self.fill(**chosen)

    def choose(self, step: str, form: str, text: str) -> None:
        """Choose a row of a step's table."""
        self.step(step)
        self.browser.click_path(_CHOICE.format(form=form, text=text))

    # --- the step -----------------------------------------------------------

    def search(self, text: str) -> None:
        """Search the properties; wait until what is found is shown."""
        self.browser.write(self.browser.find('#image-props-search'), text)
        # The list is drawn in the digest that takes the text.
        self.browser.until(
            lambda driver: driver.execute_script(_SEARCHED) == text,
            f'to search {text}')

    def row(self, name: str) -> WebElement:
        """Return the row of a property, which has to be shown."""
        return self.browser.find(f'[data-property="{name}"]')

    def offers(self, name: str) -> bool:
        """Search for a property by its name; return whether there is one."""
        self.search(name)
        return bool(self.browser.shown(f'[data-property="{name}"]'))

    def set(self, name: str, value: str) -> None:
        """Search for a property and give it a value as a user does."""
        self.search(name)
        self.fill_row(self.row(name), value)

    def fill_row(self, row: WebElement, value: str) -> None:
        """Give the property of a row a value."""
        (control,) = row.find_elements(
            By.CSS_SELECTOR, '.image-props-control [id$="-value"]')
        if control.tag_name == 'select':
            ui.Select(control).select_by_visible_text(value)
        elif control.tag_name == 'button':
            row.find_element(
                By.CSS_SELECTOR, f'[data-value="{value}"]').click()
        else:
            self.browser.write(control, value)

    def presets(self) -> list[str]:
        """Return what is offered in place of no preset."""
        return [option.text for option in self._preset().options[1:]]

    def choose_preset(self, name: str) -> None:
        """Choose a preset by its name, or none by no name."""
        (text,) = [each for each in self.presets()
                   if each.startswith(f'{name}: ')] if name else ['No preset']
        self._preset().select_by_visible_text(text)

    def preset(self) -> str:
        """Return the preset that is chosen, with its description."""
        return self._preset().first_selected_option.text

    def _preset(self) -> ui.Select:
        return ui.Select(self.browser.find('#image-props-preset'))

    def remove(self, name: str) -> None:
        """Remove the image's property."""
        self.search(name)
        self.browser.click(f'[data-property="{name}"] .image-props-remove')

    def add(self, family: str, rest: str | None, value: str) -> None:
        """Add a member of a family."""
        self.search(family.rstrip('NAME'))
        self.browser.click(f'[data-family="{family}"]')
        row = self.browser.shown('.image-props-row')[-1]
        if rest is not None:
            self.browser.write(row.find_element(
                By.CSS_SELECTOR, '.image-props-member'), rest)
        self.fill_row(row, value)

    def chips(self) -> list[str]:
        """Return what is asked for, as it is summed up."""
        return [text.strip() for text in self.browser.texts(
            '.image-props-chip a')]

    def reset(self, name: str) -> None:
        """Stop asking for a property, by its chip."""
        self.browser.click_path(
            '//span[contains(@class,"image-props-chip")]'
            f'[.//a[contains(., "{name}")]]//button')

    def wait_for_state(self, state: str) -> None:
        """Wait for the cloud's verdict: accepted, refused, incomplete."""
        self.browser.find(f'.image-props-state[data-state={state}]')

    def error(self, name: str) -> str:
        """Wait for what is wrong with a property; return it."""
        return self.browser.find(
            f'[data-property="{name}"] .image-props-error').text

    # --- launching ----------------------------------------------------------

    def can_launch(self) -> bool:
        """Return whether the button can be used."""
        return self.browser.is_enabled('.modal-footer .finish')

    def launch(self, at_once: bool = False) -> typing.Any:
        """Launch, and wait until the wizard is gone or says why it is not.

        :param at_once: even while the wizard knows that it will be refused,
            as somebody does who is faster than the check
        :returns: what it says, or None
        """
        if at_once:
            self.browser.driver.execute_script(_LAUNCH)
        else:
            self.browser.click('.modal-footer .finish')

        def done(driver: typing.Any) -> typing.Any:
            # What an earlier launch was refused for stays until the end.
            return not self.browser.shown('.ng-wizard') or (
                not self.browser.shown('.modal-footer .finish .fa-spinner')
                and self.browser.shown('.ng-wizard .error-message'))
        shown = self.browser.until(done, 'launch')
        return None if shown is True else shown[0].text
