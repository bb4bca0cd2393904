"""HTTP answers, as tests look at them."""
from __future__ import annotations

import typing

import requests

from nova_image_override import errors


class Answer:
    """An HTTP answer: ``status``, ``headers``, ``text``, decoded ``body``."""

    def __init__(self, response: requests.Response) -> None:
        self.response = response
        self.status = response.status_code
        self.headers = response.headers
        self.text = response.text
        try:
            self.body: typing.Any = response.json()
        except ValueError:
            self.body = None

    def expect(
        self, status: int, problems: dict[str, str] | None = None,
    ) -> Answer:
        """Return this answer, which must have STATUS and exactly PROBLEMS.

        :param problems: codes of a refusal, by property; None for any
        """
        assert self.status == status, self.text
        assert problems is None or self.problems == problems, self.text
        return self

    @property
    def _fault(self) -> dict[str, typing.Any]:
        (fault,) = self.body.values()
        return fault

    def _details(self, key: str) -> dict[str, str]:
        return {name: detail[key]
                for name, detail in self._fault.get(
                    errors.PARAMETER, {}).items()}

    @property
    def problems(self) -> dict[str, str]:
        """The codes of a refusal, by property; none if it is Nova's own."""
        return self._details('code')

    @property
    def reasons(self) -> dict[str, str]:
        """The reasons of a refusal, by property."""
        return self._details('reason')

    @property
    def message(self) -> str:
        return self._fault['message']
