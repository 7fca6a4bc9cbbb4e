package server

import (
	"context"
	"fmt"
	"os"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// greeting is what both the notification and the answer say.
func (c *conn) greeting() rpc.Hello {
	return rpc.Hello{
		Server: "bothyd", Version: sdk.Version, Protocol: rpc.Protocol, PID: os.Getpid(), Role: c.allowed(), Seq: c.s.cfg.Store.Seq(),
	}
}

func (s *Server) hello(_ context.Context, c *conn, p rpc.HelloParams) (rpc.Hello, error) {
	if err := rpc.CheckProtocol(rpc.Protocol, p.Protocol); err != nil {
		remedy := "run `bothy stop` and start the bothyd that was installed with the client"
		if rpc.Older(p.Protocol) {
			remedy = "upgrade the client to the version of this bothyd"
		}
		return rpc.Hello{}, rpc.Errorf(rpc.CodeProtocol, sdk.Validation,
			fmt.Sprintf("this is bothyd %s with protocol %s, and the client %s speaks %s: %s", sdk.Version, rpc.Protocol, p.Client, p.Protocol, remedy))
	}
	if err := c.introduce(p); err != nil {
		return rpc.Hello{}, err
	}
	if err := c.belongs(); err != nil {
		return rpc.Hello{}, err
	}
	s.log.Debug("client", "name", p.Client, "version", p.Version, "pid", c.peer.PID, "role", c.allowed())
	h := c.greeting()
	if c.grant == nil && h.Role.Allows(rpc.RoleSubmit) {
		h.Lacks = s.cfg.Keys.Lacks()
	}
	return h, nil
}

func (s *Server) ping(context.Context, *conn, rpc.Empty) (rpc.Empty, error) {
	return rpc.Empty{}, nil
}
