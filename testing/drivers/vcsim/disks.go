package main

import (
	"io/ioutil"
	"log"
	"path"
	"strings"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

// Disks are of a type, thin for example, from when they are made. As with
// vSphere it is in the disk's descriptor, which goes where the disk does; and
// whatever a machine's configuration says, the disk is what it is.

type diskManager struct{ simulator.VirtualDiskManager }

// CreateVirtualDiskTask writes the type into the descriptor. That of the
// simulator is empty.
func (m *diskManager) CreateVirtualDiskTask(c *simulator.Context, r *types.CreateVirtualDisk_Task) soap.HasFault {
	res := m.VirtualDiskManager.CreateVirtualDiskTask(c, r)
	task := simulator.Map.Get(
		res.(*methods.CreateVirtualDisk_TaskBody).Res.Returnval).(*simulator.Task)
	if task.Info.Error == nil {
		setType(r.Name, types.VirtualDiskType(
			r.Spec.GetVirtualDiskSpec().DiskType))
	}
	return res
}

func setType(disk string, kind types.VirtualDiskType) {
	if err := ioutil.WriteFile(local(disk), []byte(kind), 0600); err != nil {
		log.Print(err)
	}
}

// CopyVirtualDiskTask takes a destination without a data center for one in the
// data center of the source, as vSphere's reference says.
func (m *diskManager) CopyVirtualDiskTask(c *simulator.Context, r *types.CopyVirtualDisk_Task) soap.HasFault {
	if r.DestDatacenter == nil {
		r.DestDatacenter = r.SourceDatacenter
	}
	return m.VirtualDiskManager.CopyVirtualDiskTask(c, r)
}

// MoveVirtualDiskTask waits for what is still to be written.
func (m *diskManager) MoveVirtualDiskTask(c *simulator.Context, r *types.MoveVirtualDisk_Task) soap.HasFault {
	imports.Wait()
	return m.VirtualDiskManager.MoveVirtualDiskTask(c, r)
}

// ExtendVirtualDiskTask, which the simulator lacks, extends nothing: a disk's
// file has what was written to it, and its size is in the configuration of a
// machine.
func (m *diskManager) ExtendVirtualDiskTask(r *types.ExtendVirtualDisk_Task) soap.HasFault {
	task := simulator.CreateTask(r.This, "extendVirtualDisk",
		func(*simulator.Task) (types.AnyType, types.BaseMethodFault) {
			return nil, nil
		})
	return &methods.ExtendVirtualDisk_TaskBody{
		Res: &types.ExtendVirtualDisk_TaskResponse{Returnval: task.Run()}}
}

// reserved is the number of a SCSI controller among its own units.
const reserved = 7

// ReconfigVMTask attaches disks that there are as what they are, and numbers
// controllers.
func (m *machine) ReconfigVMTask(ctx *simulator.Context, r *types.ReconfigVM_Task) soap.HasFault {
	for _, change := range r.Spec.DeviceChange {
		spec := change.GetVirtualDeviceConfigSpec()
		if spec.Operation == types.VirtualDeviceConfigSpecOperationAdd {
			setBacking(spec.Device.GetVirtualDevice().Backing)
		}
	}
	r.This = m.vm.Self
	res := m.vm.ReconfigVMTask(ctx, r)
	for _, device := range m.vm.Config.Hardware.Device {
		if controller, ok := device.(types.BaseVirtualSCSIController); ok {
			controller.GetVirtualSCSIController().ScsiCtlrUnitNumber = reserved
		}
	}
	return res
}

// setBacking sets the type of a disk that there is.
func setBacking(of types.BaseVirtualDeviceBackingInfo) {
	backing, ok := of.(*types.VirtualDiskFlatVer2BackingInfo)
	if !ok {
		return
	}
	descriptor, err := ioutil.ReadFile(local(backing.FileName))
	if err != nil {
		return
	}
	kind := types.VirtualDiskType(descriptor)
	backing.ThinProvisioned = types.NewBool(kind == types.VirtualDiskTypeThin)
	backing.EagerlyScrub = types.NewBool(
		kind == types.VirtualDiskTypeEagerZeroedThick)
}

// disksOf returns the disks among devices, as paths in datastores.
func disksOf(devices []types.BaseVirtualDevice) []string {
	var files []string
	for _, device := range devices {
		if disk, ok := device.(*types.VirtualDisk); ok {
			files = append(files, disk.Backing.(types.BaseVirtualDeviceFileBackingInfo).
				GetVirtualDeviceFileBackingInfo().FileName)
		}
	}
	return files
}

// local returns where a file of the datastore is.
func local(file string) string {
	var at object.DatastorePath
	at.FromString(file)
	store := simulator.Map.Any("Datastore").(*simulator.Datastore)
	return path.Join(store.Info.GetDatastoreInfo().Url, at.Path)
}

// flat returns the file of what is on a disk, beside the disk's descriptor.
func flat(descriptor string) string {
	return strings.TrimSuffix(descriptor, ".vmdk") + "-flat.vmdk"
}
