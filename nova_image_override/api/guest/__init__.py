"""Flavor and image properties together, before a server exists.

Nova runs some of ``nova.virt.hardware``'s functions in the API and the rest in
the scheduler and the compute service, where a conflict leaves the server in
ERROR. Here Nova's own functions are called on the merged properties before
anything is created.
"""
