"""A real OpenStack on one machine, which leaves nothing but one folder.

Every service is a process that listens on loopback, keeps what it writes in
the state folder, and is stopped by the id that was recorded when it started.
"""
