package main

import (
	"github.com/gophercloud/gophercloud"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/servers"
)

// WithOverrides adds image_props_override to what creates a server.
type WithOverrides struct {
	servers.CreateOptsBuilder
	// Property to value; nil removes the image's property.
	Overrides map[string]interface{}
}

// ToServerCreateMap makes the body of the request.
func (opts WithOverrides) ToServerCreateMap() (map[string]interface{}, error) {
	body, err := opts.CreateOptsBuilder.ToServerCreateMap()
	if err != nil {
		return nil, err
	}
	server := body["server"].(map[string]interface{})
	server["image_props_override"] = opts.Overrides
	return body, nil
}

// Extended returns a copy of a compute client that names the extension.
func Extended(client *gophercloud.ServiceClient) *gophercloud.ServiceClient {
	extended := *client
	extended.MoreHeaders = map[string]string{}
	for name, value := range client.MoreHeaders {
		extended.MoreHeaders[name] = value
	}
	extended.MoreHeaders["OpenStack-API-Version"] =
		"compute " + client.Microversion + ", image-props-override 1.0"
	return &extended
}

// Overrides are a server's overrides; nil removes the image's property.
type Overrides map[string]*string

// OverridesOf returns the overrides of a server that are in force.
func OverridesOf(client *gophercloud.ServiceClient, id string) (Overrides, error) {
	var shown struct {
		Overrides Overrides `json:"image_props_override"`
	}
	err := servers.Get(client, id).ExtractInto(&shown)
	return shown.Overrides, err
}
