"""What the tests of the folder ask for."""

from testing.harness import fixture

cloud = fixture.cloud
nova = fixture.nova
