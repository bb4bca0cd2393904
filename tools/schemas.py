"""Print the JSON Schema of image_props_override, for api_schemas/.

It is that of the newest version of the API, with the installed Nova.
tests/unit/properties/test_schema.py compares.
"""

import json

from nova_image_override import versions
from nova_image_override.properties import catalog
from nova_image_override.properties import request_schema
from nova_image_override.properties.property import Schema


def published(properties: catalog.Catalog) -> Schema:
    """Return what any caller of any deployment can be permitted to send."""
    return request_schema.build(versions.MAX, {
        prop.family.pattern if prop.family else field: prop.schema(removal=True)
        for field, prop in properties.items() if not prop.record.never})


if __name__ == '__main__':
    print(json.dumps(published(catalog.running()), indent=2))
