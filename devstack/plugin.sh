#!/bin/bash
#
# DevStack plugin of nova-image-override. stack.sh sources it with the mode and
# the phase as arguments; see deploy/devstack/README.md.

IMAGE_OVERRIDE_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Beside Nova, in whatever environment DevStack put Nova into.
function install_image_override {
    setup_develop "$IMAGE_OVERRIDE_DIR"
}

# lib/nova has copied api-paste.ini and written nova.conf; nova-api starts after
# this phase.
function configure_image_override_api {
    iniset "$NOVA_API_PASTE_INI" app:osapi_compute_app_v21 \
        paste.app_factory nova_image_override.api.router:APIRouterV21.factory
    iniset "$NOVA_CONF" image_override \
        allowed_properties "$IMAGE_OVERRIDE_ALLOWED"
    iniset "$NOVA_CONF" image_override \
        denied_properties "$IMAGE_OVERRIDE_DENIED"
}

# lib/nova has the command of nova-compute in its function
# start_nova_compute: define that anew, with the other command in it.
function configure_image_override_compute {
    local before after
    before=$(declare -f start_nova_compute)
    after=${before//"/nova-compute --config-file"/"/nova-compute-image-override --config-file"}
    if [[ "$before" == "$after" ]]; then
        die $LINENO "nova-image-override: start_nova_compute of lib/nova starts nova-compute in another way than this plugin knows"
    fi
    eval "$after"
}

if [[ "$1" == "stack" && "$2" == "install" ]]; then
    if is_service_enabled n-api || is_service_enabled n-cpu; then
        install_image_override
    fi
elif [[ "$1" == "stack" && "$2" == "post-config" ]]; then
    if is_service_enabled n-api; then
        configure_image_override_api
    fi
    if is_service_enabled n-cpu && [[ "$IMAGE_OVERRIDE_COMPUTE" == "True" ]]; then
        configure_image_override_compute
    fi
fi
# unstack and clean need nothing: stack.sh writes all of it anew.
