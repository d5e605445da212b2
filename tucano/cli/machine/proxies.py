"""The proxies of an environment, before any client reads them."""

import os
from urllib.request import getproxies_environment

from tucano.errors import UserError

HERE = ("127.0.0.1", "localhost")


def ask_here_directly() -> None:
    """Our own servers are on this machine, where no proxy reaches them: NO_PROXY says so from here on, to children too.
    UserError for proxies that the HTTP client cannot read; it would end in a traceback wherever it is first used.
    """
    named = getproxies_environment()
    if not named:
        return
    direct = ",".join(dict.fromkeys(filter(None, [*named.get("no", "").split(","), *HERE])))
    os.environ.update(no_proxy=direct, NO_PROXY=direct)
    import httpx  # takes as long to import as all settings

    try:
        httpx.Client().close()
    except (ImportError, ValueError, httpx.InvalidURL) as fault:
        raise UserError(
            f"the proxies in the environment cannot be used ({fault}); HTTP_PROXY, HTTPS_PROXY and ALL_PROXY take"
            " http:// addresses, NO_PROXY names and addresses, no IPv6 networks"
        ) from None
