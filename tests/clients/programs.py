"""Programs with openstacksdk."""

START = '''
import json, logging, sys
logging.basicConfig(level=logging.WARNING)
import openstack
conn = openstack.connect()
image = conn.image.find_image('debian').id
flavor = conn.compute.find_flavor('two-cpus').id
basics = dict(name='guest', image_id=image, flavor_id=flavor, networks='none')
'''


def failing(call):
    """Return a program that prints the type and text of what CALL raises."""
    return (f'try:\n    {call}\nexcept Exception as exc:\n'
            '    print(json.dumps([type(exc).__name__, str(exc)]))\n')
