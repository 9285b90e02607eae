"""The time at an address that stands in for AWS: an emulator's may be another one than this machine's."""

import json
from http.client import HTTPException
from time import time
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

from pointsman.aws.clients import READ_SECONDS
from pointsman.errors import Transient

PATH = "/_emulator/clock"


class EndpointClock:
    """Asks the address each time. One that knows no clock goes by this machine's."""

    def __init__(self, endpoint_url: str) -> None:
        """Ask nothing yet."""
        self._url = endpoint_url.rstrip("/") + PATH
        self._opener = build_opener(ProxyHandler({}))

    def now(self) -> float:
        """Epoch seconds. Raises `Transient` when the address cannot be reached."""
        try:
            with self._opener.open(self._url, timeout=READ_SECONDS) as answer:
                return float(json.load(answer)["now"])
        except (HTTPError, ValueError, LookupError, TypeError):
            return time()
        except (OSError, HTTPException) as error:
            raise Transient(f"{self._url}: {error}") from error
