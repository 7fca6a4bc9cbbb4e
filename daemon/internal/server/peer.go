package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// errPlugin refuses a process that descends from a plugin.
var errPlugin = errors.New("processes started by a plugin may not use the daemon's socket: a plugin has host services for that")

// check holds the two rules about peers. A pid can refuse, never grant: a plugin
// that is served as a channel is let in to say hello with its token.
func (s *Server) check(p rpc.Peer) (*channelGrant, error) {
	if p.UID != s.uid {
		return nil, fmt.Errorf("this daemon serves uid %d and not uid %d: start one of your own", s.uid, p.UID)
	}
	if s.cfg.Descended == nil {
		return nil, nil
	}
	if p.PID <= 0 {
		return nil, errors.New("the process at the other end is not visible from here, so it cannot be told from a plugin's")
	}
	if s.cfg.Descended(p.PID) {
		if granted := s.cfg.Channels.of(p.PID, s.cfg.Within); granted != nil {
			return granted, nil
		}
		return nil, errPlugin
	}
	return nil, nil
}

// turnAway refuses a peer and tells the audit. A plugin's process is heard for a
// moment, so that the event can say what it wanted; nothing of it is done.
func (s *Server) turnAway(nc *net.UnixConn, peer rpc.Peer, why error) {
	said := rpc.Errorf(rpc.CodeRefused, sdk.Permission, why.Error())
	if !errors.Is(why, errPlugin) {
		s.alarm.raise(EventRefusedPeer, "a process of uid %d (pid %d) connected: %v", peer.UID, peer.PID, why)
		s.refuse(nc, said)
		return
	}
	select {
	case s.hearing <- struct{}{}:
	default: // enough of them are being heard
		s.alarm.raise(EventRefusedPeer, "pid %d, which descends from a plugin, connected", peer.PID)
		s.refuse(nc, said)
		return
	}
	s.serving.Go(func() {
		defer func() { <-s.hearing }()
		s.tell(nc, said)
		event, wanted := s.wanted(nc)
		s.alarm.raise(event, "pid %d, which descends from a plugin, connected and %s", peer.PID, wanted)
		if err := nc.Close(); err != nil {
			s.log.Debug("closing a refused connection", "error", err)
		}
	})
}

// The bounds of listening to a peer that was refused.
const (
	hearTime  = 300 * time.Millisecond
	hearBytes = 16 << 10
	hearPeers = 4
)

// wanted reads what a refused peer sends and says what it would have asked for,
// in words of the daemon's own.
func (s *Server) wanted(nc *net.UnixConn) (event, words string) {
	_ = nc.SetReadDeadline(time.Now().Add(hearTime)) // fails only when the connection is closed, as the read then does
	text, _ := io.ReadAll(io.LimitReader(nc, hearBytes))
	event = EventRefusedPeer
	var asked []string
	for frame := range bytes.Lines(text) {
		frame = bytes.TrimSpace(frame)
		if len(frame) == 0 || checkFrame(frame, s.limits.Depth) != nil {
			continue
		}
		calls, _, _ := readMessage(frame, s.limits.Batch)
		for _, x := range calls {
			m, known := s.methods[x.Method]
			if x.failed != nil || !known {
				continue
			}
			name := x.Method
			var hello rpc.HelloParams
			if x.Method == rpc.MethodHello && json.Unmarshal(x.Params, &hello) == nil && hello.Token != "" {
				name += " with a token"
				event = EventRefusedApproval
			}
			if m.role.NeedsToken() {
				event = refusedFor(m.role)
			}
			if !slices.Contains(asked, name) {
				asked = append(asked, name)
			}
		}
	}
	if len(asked) == 0 {
		return event, "asked for nothing that is known"
	}
	return event, "asked for " + strings.Join(asked, ", ")
}

// refuse sends one error and closes.
func (s *Server) refuse(nc *net.UnixConn, e *rpc.Error) {
	s.tell(nc, e)
	if err := nc.Close(); err != nil {
		s.log.Debug("closing a refused connection", "error", err)
	}
}

// tell sends one error.
func (s *Server) tell(nc *net.UnixConn, e *rpc.Error) {
	lastLine(nc, encodeResponse(nil, nil, e))
}
