package main

import (
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/simulator/vpx"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

type extensionManager struct{ mo.ExtensionManager }

func newExtensionManager() *extensionManager {
	made := &extensionManager{}
	made.Self = *vpx.ServiceContent.ExtensionManager
	return made
}

// FindExtension finds any: Nova registers its own where there is none.
func (m *extensionManager) FindExtension(r *types.FindExtension) soap.HasFault {
	return &methods.FindExtensionBody{Res: &types.FindExtensionResponse{
		Returnval: &types.Extension{
			Key: r.ExtensionKey, Description: &types.Description{}}}}
}

type searchIndex struct{ simulator.SearchIndex }

func (s *searchIndex) FindAllByUuid(r *types.FindAllByUuid) soap.HasFault {
	res := &types.FindAllByUuidResponse{}
	found := s.FindByUuid(&types.FindByUuid{
		This: r.This, Uuid: r.Uuid, VmSearch: r.VmSearch,
		InstanceUuid: r.InstanceUuid}).(*methods.FindByUuidBody)
	if found.Res.Returnval != nil {
		res.Returnval = append(res.Returnval, *found.Res.Returnval)
	}
	return &methods.FindAllByUuidBody{Res: res}
}
