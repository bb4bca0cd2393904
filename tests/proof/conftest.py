"""The cloud of tests whose modules have none of their own."""

from testing.harness import fixture

cloud = fixture.cloud
