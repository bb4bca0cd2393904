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

// What the tools are told, and what the cloud has: NAME, HINTS and METADATA as
// JSON, NETWORK or PORT.

var userData = []byte("#cloud-config\n")

// asTerraform makes the options that resourceComputeInstanceV2Create of
// terraform-provider-openstack 3 (resource_openstack_compute_instance_v2.go)
// makes of a resource with network_mode = "none": user_data is an empty slice
// and not nil, config_drive false and not absent.
func asTerraform(
	client *gophercloud.ServiceClient, image, flavor string,
) (*servers.Server, error) {
	configDrive := false
	client.Microversion = "2.37"
	return create(client, &servers.CreateOpts{
		Name: os.Getenv("NAME"), ImageRef: image, FlavorRef: flavor,
		Metadata:       metadata(),
		SecurityGroups: []string{}, Networks: "none",
		ConfigDrive: &configDrive, UserData: []byte(""),
		Personality: servers.Personality{},
	})
}

// asPacker makes those of StepRunSourceServer.Run of packer-plugin-openstack
// (builder/openstack/step_run_source_server.go).
func asPacker(
	client *gophercloud.ServiceClient, image, flavor string,
) (*servers.Server, error) {
	configDrive := false
	return create(client, withKey(&servers.CreateOpts{
		Name: os.Getenv("NAME"), ImageRef: image, FlavorRef: flavor,
		Metadata: metadata(),
		Networks: network(), UserData: []byte(""), ConfigDrive: &configDrive,
	}))
}

// asGardener makes those of Executor.deployServer of
// machine-controller-manager-provider-openstack
// (pkg/driver/executor/executor.go).
func asGardener(
	client *gophercloud.ServiceClient, image, flavor string,
) (*servers.Server, error) {
	return create(client, withKey(&servers.CreateOpts{
		Name: os.Getenv("NAME"), ImageRef: image, FlavorRef: flavor,
		Metadata: metadata(),
		Networks: network(), SecurityGroups: []string{"default"},
		UserData: userData, AvailabilityZone: "nova",
	}))
}

// asKubermatic makes those of provider.Create of machine-controller
// (pkg/cloudprovider/provider/openstack/provider.go).
func asKubermatic(
	client *gophercloud.ServiceClient, image, flavor string,
) (*servers.Server, error) {
	return create(client, &servers.CreateOpts{
		Name: os.Getenv("NAME"), ImageRef: image, FlavorRef: flavor,
		Metadata: metadata(),
		UserData: userData, SecurityGroups: []string{"default"},
		Networks: network(),
	})
}

// asClusterAPI makes those of createInstanceImpl of
// cluster-api-provider-openstack (pkg/cloud/services/compute/instance.go) of a
// machine with a local root disk. PORT is the port that it has made.
func asClusterAPI(
	client *gophercloud.ServiceClient, image, flavor string,
) (*servers.Server, error) {
	return ofMachine(client, image, flavor, false)
}

// asOpenShift makes those of machine-api-provider-openstack: MachineToInstanceSpec
// (pkg/machine/convert.go) adds two tags, and CAPO does the rest.
func asOpenShift(
	client *gophercloud.ServiceClient, image, flavor string,
) (*servers.Server, error) {
	return ofMachine(client, image, flavor, true, "openshiftClusterID=apps",
		"cluster-api-provider-openstack", "openshift-machine-api-apps")
}

func ofMachine(
	client *gophercloud.ServiceClient, image, flavor string, configDrive bool,
	tags ...string,
) (*servers.Server, error) {
	client.Microversion = "2.60"
	return create(client, bootfromvolume.CreateOptsExt{
		CreateOptsBuilder: &servers.CreateOpts{
			Name: os.Getenv("NAME"), ImageRef: image, FlavorRef: flavor,
			Metadata: metadata(),
			Networks: network(), UserData: userData, Tags: tags,
			ConfigDrive: &configDrive,
		},
		BlockDevice: []bootfromvolume.BlockDevice{{
			SourceType:          bootfromvolume.SourceImage,
			DestinationType:     bootfromvolume.DestinationLocal,
			UUID:                image,
			BootIndex:           0,
			DeleteOnTermination: true,
		}},
	})
}

// asORC makes those of serverActuator.CreateResource of
// openstack-resource-controller (internal/controllers/server/actuator.go).
func asORC(
	client *gophercloud.ServiceClient, image, flavor string,
) (*servers.Server, error) {
	client.Microversion = "2.71"
	return create(client, &servers.CreateOpts{
		Name: os.Getenv("NAME"), ImageRef: image, FlavorRef: flavor,
		Metadata: metadata(),
		Networks: network(), Tags: []string{},
	})
}

func withKey(options servers.CreateOptsBuilder) servers.CreateOptsBuilder {
	return keypairs.CreateOptsExt{
		CreateOptsBuilder: options, KeyName: "workers",
	}
}

func network() []servers.Network {
	return []servers.Network{{
		UUID: os.Getenv("NETWORK"), Port: os.Getenv("PORT"),
	}}
}

// metadata is nil where there is none, as with the tools.
func metadata() (told map[string]string) {
	parsed("METADATA", &told)
	return told
}

func parsed(variable string, value interface{}) {
	if text := os.Getenv(variable); text != "" {
		if err := json.Unmarshal([]byte(text), value); err != nil {
			panic(err)
		}
	}
}

func create(
	client *gophercloud.ServiceClient, options servers.CreateOptsBuilder,
) (*servers.Server, error) {
	hints := schedulerhints.SchedulerHints{}
	parsed("HINTS", &hints.AdditionalProperties)
	return servers.Create(client, schedulerhints.CreateOptsExt{
		CreateOptsBuilder: options, SchedulerHints: hints,
	}).Extract()
}
