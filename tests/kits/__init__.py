"""deploy/ and devstack/, with the deployment tools' own code where available,
and the examples in share/ with the servers that they are for.
"""
