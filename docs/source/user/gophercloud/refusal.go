package main

import (
	"encoding/json"

	"github.com/gophercloud/gophercloud"
)

// Refusal is why one property was refused.
type Refusal struct {
	Code   string `json:"code"`
	Reason string `json:"reason"`
}

// Refusals returns the properties that a refusal names; nil of other errors.
func Refusals(err error) map[string]Refusal {
	var body []byte
	switch refused := err.(type) {
	case gophercloud.ErrDefault400:
		body = refused.Body
	case gophercloud.ErrDefault403:
		body = refused.Body
	case gophercloud.ErrDefault409:
		body = refused.Body
	}
	var faults map[string]struct {
		Refusals map[string]Refusal `json:"image_props_override"`
	}
	if json.Unmarshal(body, &faults) != nil {
		return nil
	}
	for _, fault := range faults {
		return fault.Refusals
	}
	return nil
}
