package main

import (
	"github.com/gophercloud/gophercloud"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/extensions/schedulerhints"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/servers"
)

// ByHint needs accept_scheduler_hint in nova.conf.
func ByHint(
	client *gophercloud.ServiceClient, image, flavor string,
) (*servers.Server, error) {
	client.Microversion = "2.37"
	return servers.Create(client, schedulerhints.CreateOptsExt{
		CreateOptsBuilder: servers.CreateOpts{
			Name: "guest", ImageRef: image, FlavorRef: flavor,
			Networks: "none",
		},
		SchedulerHints: schedulerhints.SchedulerHints{
			AdditionalProperties: map[string]interface{}{
				"image_props_override:hw_firmware_type": "uefi",
			},
		},
	}).Extract()
}
