"""Downloads over https and nothing else: bounded in bytes and in time, and led nowhere that is not https.

Certificates are those that the system trusts, or those of the file that SSL_CERT_FILE names, for a mirror with an authority of its own. A
proxy is taken from the environment, as by other programs.
"""

import http.client
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from simopt.core.errors import InvalidProblem, NotAvailable
from simopt.data.datasets.packed import bounded
from simopt.data.datasets.tables import shown

SILENCE = 60.0  # seconds without an answer
HOPS = 5  # redirects
_REDIRECTS = (301, 302, 303, 307, 308)


def is_https(address: str) -> bool:
    """Whether an address begins as one of https, whatever follows."""
    return address.casefold().startswith("https://")


class DownloadSession:
    """Downloads that end after so many seconds, all together."""

    def __init__(self, seconds: float) -> None:
        ends = time.monotonic() + seconds

        class Timed(ssl.SSLSocket):
            """Also bytes that come one by one, each in time, end with the session."""

            def recv_into(self, *arguments: Any, **options: Any) -> int:
                left = ends - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"not done after {seconds:g} s")
                self.settimeout(min(SILENCE, left))
                return super().recv_into(*arguments, **options)

        self._ends = ends
        self._seconds = seconds
        context = ssl.create_default_context()
        context.sslsocket_class = Timed
        # Not build_opener: with no other handler nothing but https can be opened. Redirects are followed below, where bodies are bounded.
        self._opener = urllib.request.OpenerDirector()
        for handler in (urllib.request.ProxyHandler(), urllib.request.HTTPSHandler(context=context)):
            self._opener.add_handler(handler)

    def get(self, address: str, most: int) -> bytes:
        """The content of an address, no more than `most` bytes.

        Raises
        ------
        NotAvailable
            naming the address, for every way in which that can fail.
        """
        url = address
        for _ in range(HOPS):
            if not is_https(url):
                raise NotAvailable(f"{address}: leads to {shown(url)}, which is no https address")
            found = self._answer(address, url, most)
            if isinstance(found, bytes):
                return found
            url = found
        raise NotAvailable(f"{address}: leads on and on, last to {shown(url)}")

    def _answer(self, address: str, url: str, most: int) -> bytes | str:
        """The content of a URL, or the URL that it redirects to."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise NotAvailable(f"{address}: not done after {self._seconds:g} s")
        try:
            request = urllib.request.Request(url, headers={"User-Agent": "simopt"})
            with self._opener.open(request, timeout=min(SILENCE, left)) as answer:
                if answer.status in _REDIRECTS and answer.headers["Location"]:
                    return urllib.parse.urljoin(url, str(answer.headers["Location"]))
                if answer.status != http.HTTPStatus.OK:
                    raise NotAvailable(f"{address}: {shown(f'{answer.status} {answer.reason}')}")
                content: bytes = bounded(answer, most, address)
                if answer.length:  # what its header promised and did not come
                    raise NotAvailable(f"{address}: cut short, {answer.length} bytes are missing; try again")
                return content
        except InvalidProblem as error:
            raise NotAvailable(str(error)) from error
        except http.client.IncompleteRead as error:
            raise NotAvailable(f"{address}: cut short; try again") from error
        except http.client.HTTPException as error:
            raise NotAvailable(f"{address}: no answer of a web server ({shown(f'{type(error).__name__}: {error}')})") from error
        except (OSError, ValueError) as error:
            raise NotAvailable(f"{address}: {shown(str(getattr(error, 'reason', None) or error))}") from error
