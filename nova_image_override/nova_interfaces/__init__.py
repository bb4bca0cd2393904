"""What this package uses of Nova, by service, checked when a service starts.

Nova promises none of it to anybody. A Nova of another shape stops the service
with one line rather than letting it run half. The lists name everything by
dotted names and import nothing of Nova until they are verified.
``tests/unit/test_nova_interfaces.py`` holds them against the code.
"""
