package main

import (
	"github.com/gophercloud/gophercloud"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/servers"
)

// ByMicroversion needs compute_microversion in nova.conf, here 2.96.
func ByMicroversion(
	client *gophercloud.ServiceClient, image, flavor string,
) (*servers.Server, error) {
	client.Microversion = "2.96"
	return servers.Create(client, WithOverrides{
		CreateOptsBuilder: servers.CreateOpts{
			Name: "guest", ImageRef: image, FlavorRef: flavor,
			Networks: "none",
		},
		Overrides: map[string]interface{}{"hw_firmware_type": "uefi"},
	}).Extract()
}
