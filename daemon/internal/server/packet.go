package server

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// packet renders what the model of a turn was sent, in which stands what is remembered of the run's owner.
func (s *Server) packet(ctx context.Context, c *conn, run sdk.Run, p rpc.PacketParams) (rpc.Packet, error) {
	if err := c.reachesOwners(rpc.MethodPacket, run, "system://"); err != nil {
		return rpc.Packet{}, err
	}
	return s.cfg.Packets.Packet(ctx, run, p.Turn)
}

// renderedEntry answers getEntries for a path such as system://3, whose text is rendered when it is read.
func (s *Server) renderedEntry(ctx context.Context, run sdk.Run, p rpc.EntriesParams) (rpc.Entries, error) {
	e, err := s.cfg.Packets.Entry(ctx, run, p.Pattern)
	switch {
	case sdk.OutcomeOf(err) == sdk.NotFound, err == nil && p.Offset > 0:
		return rpc.Entries{Entries: []sdk.Entry{}}, nil
	case err != nil:
		return rpc.Entries{}, err
	case p.Brief:
		e.Body = ""
	}
	return rpc.Entries{Entries: []sdk.Entry{e}}, nil
}
