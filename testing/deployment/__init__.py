"""A real OpenStack on one machine, of which nothing stays but one folder.

Every service is a process that listens on loopback, keeps what it writes in
the state folder, and is ended by the id that was recorded when it started.
"""
