"""The step of Launch Instance, as the user's guide shows it."""


def test_what_is_chosen_and_what_is_refused(wizard, picture):
    wizard.begin('demo')
    wizard.set('hw_disk_bus', 'scsi')
    wizard.set('hw_scsi_model', 'virtio-scsi')
    wizard.wait_for_state('accepted')
    wizard.search('scsi')
    picture('horizon-step', '.modal-content')
    wizard.set('hw_video_ram', '2000000')
    wizard.wait_for_state('refused')
    assert 'flavor' in wizard.error('hw_video_ram')
    picture('horizon-refused', '.modal-content')
