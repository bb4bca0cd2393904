"""deploy/ and devstack/, with the deployment tools' own code where it is to be
had, and the examples of share/ with the servers that they are for.
"""
