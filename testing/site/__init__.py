"""nova-api of the harness on loopback, as clients find a cloud."""
