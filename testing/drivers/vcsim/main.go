// Command vcsim is a vCenter for tests: govmomi's simulator, with what Nova's
// driver for VMware needs besides.
//
// It serves the WSDL in the folder that its argument names, prints where it
// answers, and ends when its standard input does.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"io/ioutil"
	"log"
	"net/http"
	"net/url"
	"os"

	"github.com/vmware/govmomi/simulator"
)

const (
	datacenter = "DC0"
	gigabyte   = int64(1) << 30
)

func main() {
	// One cluster of one host, with one datastore, and no machine.
	model := simulator.VPX()
	model.ClusterHost = 1
	model.Host = 0
	model.Machine = 0
	if err := model.Create(); err != nil {
		log.Fatal(err)
	}
	furnish()
	mend()

	model.Service.Listen = &url.URL{Host: "127.0.0.1:0"}
	model.Service.TLS = new(tls.Config)
	wsdl := http.FileServer(http.Dir(os.Args[1]))
	model.Service.HandleFunc("/sdk/", http.StripPrefix("/sdk/", wsdl).ServeHTTP)
	model.Service.HandleFunc(streamPrefix, serveStream)
	server := model.Service.NewServer()
	server.Config.Handler = redirected{server.Config.Handler}
	fmt.Println(server.URL.Host)

	_, _ = io.Copy(ioutil.Discard, os.Stdin)
	model.Remove()
}

// furnish gives the inventory what the driver looks for.
func furnish() {
	store := simulator.Map.Any("Datastore").(*simulator.Datastore)
	// ds_util._is_datastore_valid takes no "OTHER".
	store.Summary.Type = "VMFS"
	store.Summary.Capacity = 1024 * gigabyte
	store.Summary.FreeSpace = store.Summary.Capacity
	host := simulator.Map.Any("HostSystem").(*simulator.HostSystem)
	// Where Nova sends images (VMwareVMOps._get_esx_host_and_cookies).
	host.Name = "127.0.0.1"
	host.Summary.Hardware.NumCpuThreads = 8
}

// mend registers our objects in the place of the simulator's.
func mend() {
	simulator.Map.Put(&searchIndex{*simulator.Map.SearchIndex()})
	simulator.Map.Put(&diskManager{
		*simulator.Map.VirtualDiskManager().(*simulator.VirtualDiskManager)})
	simulator.Map.Put(newExtensionManager())
	simulator.Map.Put(newCollector())
	store := simulator.Map.Any("Datastore").(*simulator.Datastore)
	simulator.Map.Put(&browser{
		*simulator.Map.Get(store.Browser).(*simulator.HostDatastoreBrowser)})
	for _, pool := range simulator.Map.All("ResourcePool") {
		simulator.Map.Put(newPool(pool.(*simulator.ResourcePool)))
	}
	simulator.Map.AddHandler(machines{})
}
