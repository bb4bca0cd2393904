package main

import (
	"github.com/gophercloud/gophercloud"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/servers"
)

// ByHeader works on every cloud that has the extension.
func ByHeader(
	client *gophercloud.ServiceClient, image, flavor string,
) (*servers.Server, error) {
	client.Microversion = "2.90"
	return servers.Create(Extended(client), WithOverrides{
		CreateOptsBuilder: servers.CreateOpts{
			Name: "guest", ImageRef: image, FlavorRef: flavor,
			Networks: "none",
		},
		Overrides: map[string]interface{}{
			"hw_firmware_type": "uefi", "hw_rng_model": nil,
		},
	}).Extract()
}
