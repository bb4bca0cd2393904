package main

import (
	"bytes"
	"io/ioutil"
	"net/http"
	"regexp"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// Machines and resource pools cannot be replaced in the simulator, which takes
// them for its own types. Beside each there is a stand-in of ours, of the same
// value and of another type, that some methods are sent to.

const (
	machineKind = "MachineStandIn"
	poolKind    = "PoolStandIn"
)

// answeredBy says which methods stand-ins answer.
var answeredBy = map[string]string{
	"CloneVM_Task":    machineKind,
	"ExportVm":        machineKind,
	"ReconfigVM_Task": machineKind,
	"ImportVApp":      poolKind,
}

// standIn is what the property collector takes for a managed object.
type standIn struct {
	mo.VirtualMachineCompatibilityChecker
}

type machine struct {
	standIn
	vm *simulator.VirtualMachine
}

type pool struct {
	standIn
	pool *simulator.ResourcePool
}

// standInOf returns the reference of what stands in for an object.
func standInOf(ref types.ManagedObjectReference, kind string) types.ManagedObjectReference {
	return types.ManagedObjectReference{Type: kind, Value: ref.Value}
}

func newPool(of *simulator.ResourcePool) *pool {
	made := &pool{pool: of}
	made.Self = standInOf(of.Self, poolKind)
	return made
}

// machines keeps a stand-in beside each machine.
type machines struct{}

func (machines) Reference() types.ManagedObjectReference {
	return types.ManagedObjectReference{Type: "Machines", Value: "machines"}
}

func (machines) PutObject(item mo.Reference) {
	if vm, ok := item.(*simulator.VirtualMachine); ok {
		made := &machine{vm: vm}
		made.Self = standInOf(vm.Self, machineKind)
		simulator.Map.Put(made)
	}
}

func (machines) RemoveObject(ref types.ManagedObjectReference) {
	if ref.Type == "VirtualMachine" {
		simulator.Map.Remove(standInOf(ref, machineKind))
	}
}

func (machines) UpdateObject(mo.Reference, []types.PropertyChange) {}

// redirected sends requests to stand-ins, and those for files of an ESX host
// to the datastores.
type redirected struct{ next http.Handler }

// called finds the method of a SOAP request, and the type of what it is sent to.
var called = regexp.MustCompile(
	`Body>\s*<(?:\w+:)?(\w+)[^>]*>\s*<(?:\w+:)?_this type="(\w+)"`)

func (h redirected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && r.URL.Path == "/sdk" {
		body, err := ioutil.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = ioutil.NopCloser(bytes.NewReader(sentToStandIn(body)))
	}
	// The name that an ESX host has for its own.
	if query := r.URL.Query(); query.Get("dcPath") == "ha-datacenter" {
		query.Set("dcPath", datacenter)
		r.URL.RawQuery = query.Encode()
	}
	h.next.ServeHTTP(w, r)
}

func sentToStandIn(body []byte) []byte {
	at := called.FindSubmatchIndex(body)
	if at == nil {
		return body
	}
	kind, ok := answeredBy[string(body[at[2]:at[3]])]
	if !ok {
		return body
	}
	return bytes.Join([][]byte{body[:at[4]], body[at[5]:]}, []byte(kind))
}
