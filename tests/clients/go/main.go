// Runs the recipes of docs/source/user/gophercloud, and builds requests as
// tools do that are made with gophercloud.
//
// usage: recipes RECIPE IMAGE FLAVOR [MORE]
//
// Prints, as JSON, the id of the server, or what refused it.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/gophercloud/gophercloud"
	"github.com/gophercloud/gophercloud/openstack"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/servers"
)

type recipe func(
	client *gophercloud.ServiceClient, image, flavor string,
) (*servers.Server, error)

// Each program of the page, and each tool.
var recipes = map[string]recipe{
	"header":       ByHeader,
	"microversion": ByMicroversion,
	"hint":         ByHint,
	"terraform":    asTerraform,
	"packer":       asPacker,
	"gardener":     asGardener,
	"kubermatic":   asKubermatic,
	"cluster-api":  asClusterAPI,
	"openshift":    asOpenShift,
	"orc":          asORC,
}

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(name string, arguments []string) error {
	client, err := connect()
	if err != nil {
		return err
	}
	printed := json.NewEncoder(os.Stdout)
	switch name {
	case "show":
		return show(client, arguments[0], printed)
	case "show-extended":
		client.Microversion = "2.90"
		return show(Extended(client), arguments[0], printed)
	}
	server, err := recipes[name](client, arguments[0], arguments[1])
	if refusals := Refusals(err); refusals != nil {
		return printed.Encode(refusals)
	}
	if err != nil {
		return err
	}
	return printed.Encode(server.ID)
}

func show(
	client *gophercloud.ServiceClient, id string, printed *json.Encoder,
) error {
	overrides, err := OverridesOf(client, id)
	if err != nil {
		return err
	}
	return printed.Encode(overrides)
}

func connect() (*gophercloud.ServiceClient, error) {
	options, err := openstack.AuthOptionsFromEnv()
	if err != nil {
		return nil, err
	}
	provider, err := openstack.AuthenticatedClient(options)
	if err != nil {
		return nil, err
	}
	return openstack.NewComputeV2(provider, gophercloud.EndpointOpts{
		Region: os.Getenv("OS_REGION_NAME"),
	})
}
