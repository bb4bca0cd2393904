"""Properties of the image itself."""

from nova_image_override.properties.book.vocabulary import (
    number, Record, records, unread)

RECORDS = records(
    *(Record(name, text, readers=(), never=True) for name, text in (
        ('hw_ephemeral_encryption_secret_uuid',
         'Key manager\'s id of the passphrase that the image is encrypted '
         'with.'),
        ('img_bdm_v2', 'Format of the image\'s block device mapping.'),
        ('img_mappings', 'The image\'s own device names.'),
        ('img_owner_id', 'Project that uploaded the image.'),
        ('img_root_device_name', 'Device name of the image\'s root disk.'),
        ('img_signature', 'Signature of the image.'),
        ('img_signature_certificate_uuid',
         'Certificate that checks the image\'s signature.'),
        ('img_signature_hash_method', 'Hash of the image\'s signature.'),
        ('img_signature_key_type', 'Key type of the image\'s signature.'),
        ('img_block_device_mapping', 'The image\'s own block devices.'))),
    unread('img_bittorrent', 'Fetch the image by BitTorrent.'),
    unread('img_cache_in_nova', 'Keep the image in the host\'s image cache.'),
    unread(
        'img_compression_level', 'Compression level of snapshots.',
        limits=number(9)),
    unread('img_version', 'VMware image version.', limits=number(65535)),
)
