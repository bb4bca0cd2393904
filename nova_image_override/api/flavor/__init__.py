"""What flavor and image properties decide between them, before a server is.

Nova runs part of ``nova.virt.hardware``'s functions in the API and the rest in
scheduler and compute, where a conflict ends in a server in ERROR. Here Nova's
own functions are called on the merged properties before anything is created.
"""
