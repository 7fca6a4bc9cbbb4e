package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"path/filepath"
	"sync/atomic"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// daemon is the daemon's services as one that has granted nothing offers them.
type daemon struct {
	host.Host
	at        Services
	server    *grpc.Server
	tokenless atomic.Int64 // requests without the token of Configure
}

// serveHost offers the services in a folder.
func serveHost(dir string) (*daemon, error) {
	d := &daemon{Host: host.Refusing(errNotGranted), at: Services{Address: filepath.Join(dir, "host.sock"), Token: rand.Text()}}
	ln, err := net.Listen("unix", d.at.Address)
	if err != nil {
		return nil, err
	}
	d.server = grpc.NewServer(append(host.RequireToken(d.at.Token, func() { d.tokenless.Add(1) }),
		grpc.MaxRecvMsgSize(wire.MaxMessage), grpc.MaxSendMsgSize(wire.MaxMessage))...)
	host.Register(d.server, d)
	go func() { _ = d.server.Serve(ln) }() // ends with Stop
	return d, nil
}

// behaved says how the plugin called back.
func (d *daemon) behaved() error {
	if n := d.tokenless.Load(); n > 0 {
		return errors.New("the plugin called the daemon's services without the token of Configure, which belongs into the metadata key " + host.TokenKey)
	}
	return nil
}

var errNotGranted = sdk.Errorf(sdk.Permission, "the conformance test grants nothing")

// Log implements host.Host: it needs no grant.
func (*daemon) Log(context.Context, string, string, map[string]string) error { return nil }
