package server

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

func (s *Server) people(_ context.Context, c *conn, p rpc.PeopleParams) (rpc.People, error) {
	if c.grant != nil {
		p.Channel = c.grant.instance
	}
	return rpc.People{People: orEmpty(s.cfg.People.List(p.Channel)), Pairing: s.pairs.waits(p.Channel)}, nil
}

func (s *Server) addPerson(ctx context.Context, _ *conn, p rpc.PersonAdd) (rpc.PersonAdded, error) {
	return s.cfg.People.Add(ctx, p)
}

func (s *Server) removePerson(ctx context.Context, _ *conn, p rpc.PersonRef) (rpc.PersonRemoved, error) {
	return s.cfg.People.Remove(ctx, p)
}

func (s *Server) setLearning(ctx context.Context, _ *conn, p rpc.Learning) (rpc.LearningSet, error) {
	return s.cfg.People.Learning(ctx, p)
}
