"""Made from setup.cfg."""

import setuptools

setuptools.setup()
