"""Horizon's pages and REST views without a browser."""

import html
import re

import requests

OVERRIDES = {'hw_disk_bus': 'scsi', 'hw_scsi_model': 'virtio-scsi'}


class Session:
    """What one user of Horizon gets.

    :param url: of Horizon
    :param password: by default the name, as users of testing.site have it
    """

    def __init__(self, url, user, password=None):
        self.url = url
        self._session = requests.Session()
        self._session.headers['Referer'] = url
        page = self.get('/auth/login/')
        assert page.status_code == 200, page.text
        page = self.post('/auth/login/', {
            'username': user, 'password': password or user,
            'region': 'default', 'auth_type': 'credentials'})
        assert '/auth/login' not in page.url, text_of(page)

    def get(self, path, **params):
        """Return a page."""
        return self._session.get(self.url + path, params=params, timeout=120)

    def post(self, path, data):
        """Return the result of sending a form."""
        return self._session.post(
            self.url + path, timeout=120,
            data={**data, 'csrfmiddlewaretoken': self._token()})

    def ask(self, method, path, data=None):
        """Return what a REST view of the plugin answers to JavaScript."""
        response = self.answer(method, path, data)
        assert response.status_code in (200, 201, 204), response.text
        return response.json() if response.content else None

    def answer(self, method, path, data=None):
        """Return that answer, whatever its status."""
        return self._session.request(
            method, f'{self.url}/api/image-props-override/{path}', json=data,
            timeout=120, headers={
                'X-Requested-With': 'XMLHttpRequest',
                'X-CSRFToken': self._token()})

    def tab(self, path):
        """Return our tab of an instance's page, as the page loads it."""
        return self._session.get(
            self.url + path, timeout=120,
            params={'tab': 'instance_details__image_props_override'},
            headers={'X-Requested-With': 'XMLHttpRequest'})

    def _token(self):
        return self._session.cookies.get('csrftoken', '')


def preset(session, name):
    """Return a preset as a page asks for it, which shows what it has now."""
    (offered,) = [each for each in session.ask('GET', '')['presets']
                  if each['name'] == name]
    return {'name': name, 'digest': offered['digest']}


def text_of(page):
    """Return what a page says, without its markup, with single blanks."""
    text = re.sub(r'(?s)<(script|style).*?</\1>|<[^>]*>', ' ', page.text)
    return ' '.join(html.unescape(text).split())
