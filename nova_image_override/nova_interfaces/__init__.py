"""Names of Nova that this package uses, checked when a service starts.

Nova promises none of it to anybody. A Nova with a different shape stops the
service with one line rather than letting it half work. The lists give what is
called, and fields, by dotted name and import nothing of Nova until they are
verified. Methods that are overridden are checked where they are declared.
"""
