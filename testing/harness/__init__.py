"""Nova's functional harness: real nova-api, conductor, scheduler, compute."""

import gc
import os

from testing import release

# Nova 34 runs in native threads, 31 and 32 under eventlet. 33 can do both,
# but its harness only the latter (nova/tests/fixtures/notifications.py). The
# harness decides when it is imported (nova/tests/functional/__init__.py, and
# nova/test.py in 32), and must be the first to import anything of Nova:
# whatever was there before it shares database transactions between green
# threads.
if release.NUMBER >= 34:
    os.environ.setdefault('OS_NOVA_DISABLE_EVENTLET_PATCHING', 'true')

import nova.tests.functional

# isort: split
import nova.test  # noqa: F401

# Nova 31's nova.api.wsgi uses webob.dec without importing it.
import webob.dec  # noqa: F401

# Nova's modules stay: each garbage collection would walk through all of them,
# which takes a tenth of a test's time.
gc.freeze()
gc.set_threshold(50_000, 20, 100)
