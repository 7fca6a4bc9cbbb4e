package server

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

// No error of these has a part of a key in it: a line to a client is redacted, but by what is known.

func (s *Server) login(ctx context.Context, _ *conn, p rpc.KeyLogin) (rpc.KeyKept, error) {
	kept, err := s.cfg.Keys.Login(ctx, p)
	kept.UsedBy, kept.Warnings, kept.Problems = orEmpty(kept.UsedBy), orEmpty(kept.Warnings), orEmpty(kept.Problems)
	return kept, err
}

func (s *Server) logout(ctx context.Context, _ *conn, p rpc.KeyRef) (rpc.KeyRemoved, error) {
	removed, err := s.cfg.Keys.Logout(ctx, p)
	removed.From, removed.Problems = orEmpty(removed.From), orEmpty(removed.Problems)
	return removed, err
}

func (s *Server) keys(context.Context, *conn, rpc.Empty) (rpc.Keys, error) {
	list := s.cfg.Keys.List()
	list.Keys = orEmpty(list.Keys)
	for i := range list.Keys {
		list.Keys[i].UsedBy = orEmpty(list.Keys[i].UsedBy)
	}
	return list, nil
}

// give is not for channels: a plugin says nothing about keys.
func (s *Server) give(ctx context.Context, c *conn, p rpc.KeysGive) (rpc.KeysTaken, error) {
	return s.cfg.Keys.Give(ctx, c.peer.PID, p)
}
