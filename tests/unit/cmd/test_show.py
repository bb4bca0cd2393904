"""``show`` without a database; with one: tests/functional/test_show_command.py.
"""


def test_the_option_that_is_missing_is_named(deployment):
    deployment.write('nova.conf', '[image_override]\n')
    status, out, err = deployment.run(
        'show', '5f2c1a34-0c1e-4b6f-9e2d-7a8b9c0d1e2f')
    assert status == 1
    assert not out
    assert 'nova.conf has no [api_database] connection\n' in err
