"""Which release of Nova is installed."""

from nova import version

#: Such as 34.
NUMBER = int(version.version_string().split('.')[0])
