package main

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"sync"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

// streamPrefix is where disks are read and written as streams: not as they are
// in a datastore, but compressed, and with a header. Ours is no real
// stream-optimized disk. It begins as one does, and as little can be taken for
// what is on the disk.
const streamPrefix = "/stream"

var magic = []byte("KDMV")

// imports are the streams that are still to be written.
var imports sync.WaitGroup

func serveStream(w http.ResponseWriter, r *http.Request) {
	file := local(r.URL.Query().Get("file"))
	var err error
	if r.Method == http.MethodGet {
		err = sendStream(w, flat(file))
	} else {
		defer imports.Done()
		err = receiveStream(flat(file), r.Body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func sendStream(to io.Writer, file string) error {
	content, err := os.Open(file)
	if err != nil {
		return err
	}
	defer content.Close()
	if _, err = to.Write(magic); err != nil {
		return err
	}
	compressed := zlib.NewWriter(to)
	defer compressed.Close()
	_, err = io.Copy(compressed, content)
	return err
}

func receiveStream(file string, from io.Reader) error {
	begin := make([]byte, len(magic))
	if _, err := io.ReadFull(from, begin); err != nil {
		return err
	}
	if !bytes.Equal(begin, magic) {
		return fmt.Errorf("no stream-optimized disk")
	}
	content, err := zlib.NewReader(from)
	if err != nil {
		return err
	}
	written, err := os.Create(file)
	if err != nil {
		return err
	}
	defer written.Close()
	_, err = io.Copy(written, content)
	return err
}

func streamURL(file string) string {
	// Clients put the address of vCenter in the place of "*".
	return (&url.URL{
		Scheme: "https", Host: "*", Path: streamPrefix,
		RawQuery: url.Values{"file": {file}}.Encode()}).String()
}

// ExportVm lends the machine's disks, to be read.
func (m *machine) ExportVm(ctx *simulator.Context, r *types.ExportVm) soap.HasFault {
	lease := simulator.NewHttpNfcLease(ctx, m.vm.Self)
	lease.Info.Lease = lease.Reference()
	for _, file := range disksOf(m.vm.Config.Hardware.Device) {
		lease.Info.DeviceUrl = append(
			lease.Info.DeviceUrl, types.HttpNfcLeaseDeviceUrl{
				Key: m.vm.Self.Value, Url: streamURL(file),
				Disk: types.NewBool(true)})
	}
	return &methods.ExportVmBody{Res: &types.ExportVmResponse{
		Returnval: lease.Reference()}}
}

// ImportVApp lends the disk of the new machine, to be written. The simulator
// throws away what is written to it.
func (p *pool) ImportVApp(ctx *simulator.Context, r *types.ImportVApp) soap.HasFault {
	r.This = p.pool.Self
	body := p.pool.ImportVApp(ctx, r).(*methods.ImportVAppBody)
	if body.Res == nil {
		return body
	}
	lease := ctx.Session.Get(body.Res.Returnval).(*simulator.HttpNfcLease)
	vm := simulator.Map.Get(lease.Info.Entity).(*simulator.VirtualMachine)
	files := disksOf(vm.Config.Hardware.Device)
	for i := range lease.Info.DeviceUrl {
		if each := &lease.Info.DeviceUrl[i]; *each.Disk {
			// Nova asks for a thin disk (images._build_shadow_vm_config_spec).
			setType(files[0], types.VirtualDiskTypeThin)
			each.Url, files = streamURL(files[0]), files[1:]
			imports.Add(1)
		}
	}
	return body
}

// CloneVMTask gives the clone the contents of the machine's disks, and leaves
// the machine its own disks. The simulator lets both share devices, with new
// and empty disks.
func (m *machine) CloneVMTask(ctx *simulator.Context, r *types.CloneVM_Task) soap.HasFault {
	devices := m.vm.Config.Hardware.Device
	kept := make([]types.BaseVirtualDevice, len(devices))
	for i, device := range devices {
		kept[i] = copied(device).(types.BaseVirtualDevice)
		if at := kept[i].GetVirtualDevice(); at.Backing != nil {
			at.Backing = copied(at.Backing).(types.BaseVirtualDeviceBackingInfo)
		}
	}
	r.This = m.vm.Self
	res := m.vm.CloneVMTask(ctx, r)
	m.vm.Config.Hardware.Device = kept
	task := simulator.Map.Get(
		res.(*methods.CloneVM_TaskBody).Res.Returnval).(*simulator.Task)
	if ref, ok := task.Info.Result.(types.ManagedObjectReference); ok {
		clone := simulator.Map.Get(ref).(*simulator.VirtualMachine)
		if r.Spec.Template {
			// Templates are in no resource pool: the simulator forgets that
			// the pool has a list, too.
			of := simulator.Map.Get(*m.vm.ResourcePool).(*simulator.ResourcePool)
			simulator.Map.RemoveReference(of, &of.Vm, ref)
		}
		made := disksOf(clone.Config.Hardware.Device)
		for i, file := range disksOf(kept) {
			copyDisk(ctx, file, made[i])
		}
	}
	return res
}

func copied(pointer interface{}) interface{} {
	from := reflect.ValueOf(pointer).Elem()
	made := reflect.New(from.Type())
	made.Elem().Set(from)
	return made.Interface()
}

func copyDisk(ctx *simulator.Context, from string, to string) {
	ref := simulator.Map.Any("Datacenter").Reference()
	simulator.Map.VirtualDiskManager().CopyVirtualDiskTask(
		ctx, &types.CopyVirtualDisk_Task{
			SourceName: from, SourceDatacenter: &ref,
			DestName: to, DestDatacenter: &ref, Force: types.NewBool(true)})
}
