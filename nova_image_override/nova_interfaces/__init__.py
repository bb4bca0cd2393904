"""Names of Nova that this package uses, checked when a service starts.

Nova promises none of it to anybody. A Nova with a different shape stops the
service with one line rather than letting it half work. The lists give what is
called by dotted name, and why, and import nothing of Nova until they are
verified. Methods that are overridden are found where they are declared.
"""
