"""Names of Nova that this package uses, checked when a service starts.

Nova does not guarantee any of them. A Nova with a different shape stops the
service with one line rather than letting it half work. The lists have the
dotted name of each function that is called, and the reason, and import nothing
of Nova until they are verified. Overridden methods are found by their mark.
"""
