"""Reading a refusal by nova-api."""

import requests

from nova_image_override import errors


class Refused(Exception):
    """What was asked for is refused; the message is that of Nova's fault.

    :ivar response: the cloud's answer
    :ivar problems: what is wrong with overrides; empty when something else is
    """

    def __init__(
        self, response: requests.Response, message: str,
        problems: tuple[errors.Problem, ...],
    ) -> None:
        super().__init__(message)
        self.response = response
        self.problems = problems

    @property
    def lines(self) -> str:
        """What is wrong, with a line for each property if there are any."""
        return '\n'.join(map(str, self.problems)) or str(self)


def raise_for(response: requests.Response) -> None:
    """Raise an error if RESPONSE is one of Nova's faults.

    :raises Refused: it is, and the request is to blame (4xx)
    """
    if not 400 <= response.status_code < 500:
        return
    try:
        (fault,) = response.json().values()
        refused = Refused(response, fault['message'], tuple(sorted(
            errors.Problem(name, said['code'], said['reason'])
            for name, said in fault.get(errors.PARAMETER, {}).items())))
    except (AttributeError, KeyError, TypeError, ValueError):
        return
    raise refused
