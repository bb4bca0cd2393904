package main

import (
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

type browser struct{ simulator.HostDatastoreBrowser }

// SearchDatastoreTask looks for all files, and for their names only, where the
// request does not say. The simulator ends there.
func (b *browser) SearchDatastoreTask(r *types.SearchDatastore_Task) soap.HasFault {
	if r.SearchSpec == nil {
		r.SearchSpec = &types.HostDatastoreBrowserSearchSpec{
			MatchPattern: []string{"*"}}
	}
	if r.SearchSpec.Details == nil {
		r.SearchSpec.Details = &types.FileQueryFlags{}
	}
	return b.HostDatastoreBrowser.SearchDatastoreTask(r)
}

type collector struct{ simulator.PropertyCollector }

func newCollector() *collector {
	made := &collector{}
	made.Self = types.ManagedObjectReference{
		Type: "PropertyCollector", Value: "propertyCollector"}
	return made
}

// RetrievePropertiesEx goes on from no machine. The simulator forgets where it
// has been: machine, pool and machine again, until its stack ends.
func (p *collector) RetrievePropertiesEx(c *simulator.Context, r *types.RetrievePropertiesEx) soap.HasFault {
	for _, spec := range r.SpecSet {
		for _, from := range spec.ObjectSet {
			stopAtMachines(from.SelectSet)
		}
	}
	return p.PropertyCollector.RetrievePropertiesEx(c, r)
}

func stopAtMachines(set []types.BaseSelectionSpec) {
	for _, each := range set {
		if step, ok := each.(*types.TraversalSpec); ok {
			if step.Path == "vm" {
				step.SelectSet = nil
			}
			stopAtMachines(step.SelectSet)
		}
	}
}
