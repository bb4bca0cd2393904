"""A plugin of Tempest: does a cloud keep what the extension promises?

Needs Tempest and the constants that clients share with the API
(nova_image_override.errors, .versions); nothing from Nova.
"""
