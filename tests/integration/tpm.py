"""Guests with a vTPM."""

TPM = {'hw_tpm_version': '2.0', 'hw_tpm_model': 'tpm-crb'}


def check(server, overrides=TPM):
    """Check all three places."""
    assert server.api == overrides
    device = server.domain.find('devices/tpm')
    assert device.get('model') == 'tpm-crb'
    assert device.find('backend').get('version') == '2.0'
    assert server.told.tpm == '2 tpm_crb'
