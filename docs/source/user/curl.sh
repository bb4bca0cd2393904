# A token, and where Nova is.
answer=$(curl -s -i "$OS_AUTH_URL/auth/tokens" \
    -H 'Content-Type: application/json' -d '{"auth": {
        "identity": {"methods": ["password"], "password": {"user": {
            "name": "'"$OS_USERNAME"'", "password": "'"$OS_PASSWORD"'",
            "domain": {"name": "Default"}}}},
        "scope": {"project": {"name": "'"$OS_PROJECT_NAME"'",
                              "domain": {"name": "Default"}}}}}' |
    tr -d '\r')
token=$(echo "$answer" | grep -i '^X-Subject-Token:' | cut -d ' ' -f 2)
nova=$(echo "$answer" | tail -n 1 | jq -r '.token.catalog[] |
    select(.type == "compute").endpoints[] |
    select(.interface == "public").url')

# What may I override?
curl -s "$nova/image-props-override" -H "X-Auth-Token: $token" |
    jq -c '.image_props_override.schema.properties.hw_firmware_type'

# Boot a server.
version='OpenStack-API-Version: compute 2.93, image-props-override 1.0'
server=$(curl -s "$nova/servers" -H "X-Auth-Token: $token" -H "$version" \
    -H 'Content-Type: application/json' -d '{"server": {
        "name": "guest", "imageRef": "'"$IMAGE"'",
        "flavorRef": "'"$FLAVOR"'", "networks": "none",
        "image_props_override": {"hw_firmware_type": "uefi"}}}' |
    jq -r .server.id)

# What is in force?
curl -s "$nova/servers/$server" -H "X-Auth-Token: $token" -H "$version" |
    jq -c .server.image_props_override

# What is wrong with this one?
curl -s "$nova/servers" -H "X-Auth-Token: $token" -H "$version" \
    -H 'Content-Type: application/json' -d '{"server": {
        "name": "guest", "imageRef": "'"$IMAGE"'",
        "flavorRef": "'"$FLAVOR"'", "networks": "none",
        "image_props_override": {"hw_disk_bus": "floppy", "vm_mode": "hvm"}}}' |
    jq .badRequest.image_props_override
