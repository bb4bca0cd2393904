"""The compute API that boots servers from merged image properties."""

import typing

from nova import utils as nova_utils
from nova.compute import api
from oslo_log import log as logging

from nova_image_override import errors
from nova_image_override.api import checks
from nova_image_override.api import extension as extension_module
from nova_image_override.api import faults

LOG = logging.getLogger(__name__)


class API(api.API):
    """Nova's compute API with overrides merged into the boot metadata.

    Without overrides on the request context every method is Nova's own.

    :param extension: the rules and the catalogue
    """

    def __init__(self, extension: extension_module.Extension) -> None:
        super().__init__()
        self._extension = extension

    def get(
        self, context: typing.Any, instance_id: str,
        expected_attrs: list[str] | None = None, **kwargs: typing.Any,
    ) -> typing.Any:
        """Get one instance, with what our answers show of it."""
        return super().get(
            context, instance_id,
            expected_attrs=_with_record(context, expected_attrs), **kwargs)

    def get_all(
        self, context: typing.Any, *args: typing.Any,
        expected_attrs: list[str] | None = None, **kwargs: typing.Any,
    ) -> typing.Any:
        """Get instances, with what our answers show of them.

        From compute 2.73 on Nova loads system metadata anyway; below, asking
        for it costs one query for each list, not for each server.
        """
        return super().get_all(
            context, *args,
            expected_attrs=_with_record(context, expected_attrs), **kwargs)

    def _validate_and_build_base_options(
        self, context: typing.Any, flavor: typing.Any,
        boot_meta: dict[str, typing.Any], *args: typing.Any,
        **kwargs: typing.Any,
    ) -> typing.Any:
        # Nova's _create_instance calls this for image and volume boots alike,
        # before anything is created and before anything but auto_disk_config
        # reads the boot metadata.
        state = extension_module.state_of(context)
        if state is not None and state.overrides:
            try:
                self._merge(context, state, flavor, boot_meta)
            except errors.OverrideError as exc:
                raise faults.as_http(exc) from None
        return super()._validate_and_build_base_options(
            context, flavor, boot_meta, *args, **kwargs)

    def _merge(
        self, context: typing.Any, state: extension_module.RequestState,
        flavor: typing.Any, boot_meta: dict[str, typing.Any],
    ) -> None:
        """Judge the request's overrides and merge them into BOOT_META."""
        extension = self._extension
        base = boot_meta.get('properties') or {}
        extension.rules.check(extension.caller(context), state.overrides)
        properties = extension.merger.merge(base, state.overrides)
        # A blank boot volume has no metadata at all and a volume's has no
        # name: what Nova reads once there is any (API._validate_flavor_image,
        # messages of nova.virt.hardware) must be there.
        image = {'status': 'active', 'name': '', 'size': 0, 'min_ram': 0,
                 'min_disk': 0, **boot_meta, 'properties': properties}
        checks.check(extension, flavor, image, base, state.overrides)
        boot_meta.update(image)
        state.record = {
            key: None if value is None else nova_utils.safe_truncate(value, 255)
            for key, value in
            extension.merger.record(base, state.overrides).items()}
        LOG.info('Image properties overridden at boot: %s',
                 ', '.join(sorted(state.overrides)))

    def _populate_instance_for_create(
        self, context: typing.Any, instance: typing.Any, *args: typing.Any,
        **kwargs: typing.Any,
    ) -> typing.Any:
        instance = super()._populate_instance_for_create(
            context, instance, *args, **kwargs)
        state = extension_module.state_of(context)
        if state is not None:
            instance.system_metadata.update(state.record)
        return instance


def _with_record(
        context: typing.Any, expected_attrs: list[str] | None,
) -> list[str] | None:
    if extension_module.state_of(context) is None or expected_attrs is None:
        return expected_attrs
    return sorted({*expected_attrs, 'system_metadata'})
