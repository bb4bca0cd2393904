package main

import (
	"encoding/json"
	"os"

	"github.com/gophercloud/gophercloud"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/extensions/bootfromvolume"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/extensions/keypairs"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/extensions/schedulerhints"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/servers"
)

// asTerraform makes the options that resourceComputeInstanceV2Create of
// terraform-provider-openstack 3 (resource_openstack_compute_instance_v2.go)
// makes of a resource with network_mode = "none": user_data is an empty slice
// and not nil, config_drive false and not absent. HINTS has
// additional_properties.
func asTerraform(
	client *gophercloud.ServiceClient, image, flavor string,
) (*servers.Server, error) {
	configDrive := false
	hints, err := hintsOfEnvironment()
	if err != nil {
		return nil, err
	}
	client.Microversion = "2.37"
	return servers.Create(client, schedulerhints.CreateOptsExt{
		CreateOptsBuilder: &servers.CreateOpts{
			Name: "guest", ImageRef: image, FlavorRef: flavor,
			SecurityGroups: []string{}, Networks: "none",
			Metadata: map[string]string{}, ConfigDrive: &configDrive,
			UserData: []byte(""), Personality: servers.Personality{},
		},
		SchedulerHints: hints,
	}).Extract()
}

// asClusterAPI makes the options that createInstanceImpl of
// cluster-api-provider-openstack (pkg/cloud/services/compute/instance.go)
// makes of a machine with a local root disk. PORT is the port that it has made,
// HINTS has schedulerHintAdditionalProperties.
func asClusterAPI(
	client *gophercloud.ServiceClient, image, flavor string,
) (*servers.Server, error) {
	configDrive := false
	hints, err := hintsOfEnvironment()
	if err != nil {
		return nil, err
	}
	client.Microversion = "2.60"
	return servers.Create(client, schedulerhints.CreateOptsExt{
		CreateOptsBuilder: keypairs.CreateOptsExt{
			CreateOptsBuilder: bootfromvolume.CreateOptsExt{
				CreateOptsBuilder: servers.CreateOpts{
					Name: "machine", ImageRef: image, FlavorRef: flavor,
					Networks:    []servers.Network{{Port: os.Getenv("PORT")}},
					UserData:    []byte("#cloud-config\n"),
					ConfigDrive: &configDrive,
				},
				BlockDevice: []bootfromvolume.BlockDevice{{
					SourceType:          bootfromvolume.SourceImage,
					DestinationType:     bootfromvolume.DestinationLocal,
					UUID:                image,
					BootIndex:           0,
					DeleteOnTermination: true,
				}},
			},
		},
		SchedulerHints: hints,
	}).Extract()
}

func hintsOfEnvironment() (schedulerhints.SchedulerHints, error) {
	hints := schedulerhints.SchedulerHints{}
	err := json.Unmarshal(
		[]byte(os.Getenv("HINTS")), &hints.AdditionalProperties)
	return hints, err
}
