"""The hosts of the cloud: what runs there, and with which virt driver."""
