package server

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// What plugins are told of one request.
const (
	toldBytes = 64 << 10 // of raw, params and result, each
	toldError = 4 << 10
	toldID    = 256
	toldWait  = 256 // events that wait for slow plugins; what comes then is told to nobody
)

// hooks tells plugins of the requests of clients. Filters are asked within a request, and can refuse it; events
// are told behind its back, in their order, so that no client waits for a plugin that only listens.
type hooks struct {
	*hook.Chains
	s     *Server
	begun sync.Once
	queue chan func(context.Context)
}

func newHooks(s *Server, chains *hook.Chains) *hooks {
	return &hooks{Chains: chains, s: s, queue: make(chan func(context.Context), toldWait)}
}

// secretive reports whether a method takes or tells keys, tokens or texts that nobody saved.
func secretive(method string) bool {
	return method == rpc.MethodHello || method == rpc.MethodLend || method == rpc.MethodBuffer || strings.HasPrefix(method, "auth/")
}

// unasked are the methods that no filter is asked about, whatever their role: by them a client finds out
// what is there and how it is, and a person what an answer is bound to.
var unasked = []string{rpc.MethodHello, rpc.MethodPing, rpc.MethodDiscover, rpc.MethodStatus, rpc.MethodProposals, rpc.MethodProposal}

// asks reports whether filters are asked about a request at all.
func (h *hooks) asks(c *conn, method string) bool {
	m, known := h.s.methods[method]
	return known && c.grant == nil && !m.role.NeedsToken() && !slices.Contains(unasked, method)
}

// wantMessages reports whether anybody is asked about messages.
func (h *hooks) wantMessages() bool { return h != nil && h.SocketMessageRaw.Active() }

// message asks about a whole message, before anything of it is done. One with a request in it that no filter is
// asked about, or that holds secrets, is not told.
func (h *hooks) message(ctx context.Context, c *conn, frame []byte, calls []call) error {
	if !h.wantMessages() || frame == nil {
		return nil
	}
	for _, x := range calls {
		if x.failed != nil || !h.asks(c, x.Method) || secretive(x.Method) {
			return nil
		}
	}
	told := sdk.SocketRequest{Project: c.at(ctx).ID, Raw: string(h.clean(frame))}
	if len(told.Raw) > toldBytes {
		told.Raw, told.Left = cut(told.Raw, toldBytes)
	}
	return refusedBy(h.SocketMessageRaw.Apply(ctx, told))
}

// request asks about one request and tells that it begins.
func (h *hooks) request(ctx context.Context, c *conn, req rpc.Request) error {
	if h == nil || c.grant != nil {
		return nil
	}
	if h.RPCRequest.Active() && h.asks(c, req.Method) {
		if err := refusedBy(h.RPCRequest.Apply(ctx, h.of(ctx, c, req))); err != nil {
			h.failed(ctx, c, req, err)
			return err
		}
	}
	if h.RPCStarted.Active() {
		told := h.of(ctx, c, req)
		h.tell(req.Method, func(ctx context.Context) { h.RPCStarted.Emit(ctx, told) })
	}
	return nil
}

// answer asks about the result of a request, and tells how it ended. What it returns is the answer.
func (h *hooks) answer(ctx context.Context, c *conn, req rpc.Request, result any, err error) (any, error) {
	if h == nil || c.grant != nil {
		return result, err
	}
	filters := err == nil && h.RPCResponseResult.Active() && h.asks(c, req.Method)
	if filters || err == nil && h.RPCCompleted.Active() {
		told := sdk.SocketRequest{Project: c.at(ctx).ID, ID: shortID(req.ID), Method: req.Method}
		if !secretive(req.Method) {
			h.put(&told.Result, &told.Left, result)
		}
		if filters {
			err = refusedBy(h.RPCResponseResult.Apply(ctx, told))
		}
		if err == nil && h.RPCCompleted.Active() {
			h.tell(req.Method, func(ctx context.Context) { h.RPCCompleted.Emit(ctx, told) })
		}
	}
	if err != nil {
		h.failed(ctx, c, req, err)
		return nil, err
	}
	return result, nil
}

// failed tells that a request failed.
func (h *hooks) failed(ctx context.Context, c *conn, req rpc.Request, err error) {
	if !h.RPCError.Active() {
		return
	}
	told := sdk.SocketRequest{Project: c.at(ctx).ID, ID: shortID(req.ID), Method: req.Method, Error: string(sdk.OutcomeOf(err))}
	if !secretive(req.Method) {
		var text string
		if raw, wrong := json.Marshal(rpc.ErrorOf(err).Message); wrong == nil && json.Unmarshal(h.clean(raw), &text) == nil {
			told.Error = sdk.Head(text, toldError)
		}
	}
	h.tell(req.Method, func(ctx context.Context) { h.RPCError.Emit(ctx, told) })
}

// of is a request as plugins are told it.
func (h *hooks) of(ctx context.Context, c *conn, req rpc.Request) sdk.SocketRequest {
	told := sdk.SocketRequest{Project: c.at(ctx).ID, ID: shortID(req.ID), Method: req.Method}
	if !secretive(req.Method) && len(req.Params) > 0 {
		h.put(&told.Params, &told.Left, req.Params)
	}
	return told
}

// put is a value as JSON, without secrets, where it is short enough.
func (h *hooks) put(to *json.RawMessage, left *int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		return
	}
	if raw = h.clean(raw); len(raw) > toldBytes {
		*left = len(raw)
		return
	}
	*to = raw
}

// clean takes the secrets out of JSON.
func (h *hooks) clean(raw []byte) []byte {
	if h.s.cfg.Redact == nil {
		return raw
	}
	return h.s.cfg.Redact(slices.Clone(raw))
}

func shortID(id json.RawMessage) json.RawMessage {
	if len(id) > toldID {
		return nil
	}
	return id
}

// tell has something told of a request when what was before it is.
func (h *hooks) tell(method string, emit func(context.Context)) {
	h.begun.Do(func() { go h.run() })
	select {
	case h.queue <- emit:
	default:
		h.s.log.Warn("a plugin is slow to hear of requests, and does not hear of this one", "method", method)
	}
}

// run tells events until the daemon takes no requests any more.
func (h *hooks) run() {
	for {
		select {
		case emit := <-h.queue:
			emit(h.s.draining)
		case <-h.s.draining.Done():
			return
		}
	}
}

// refusedBy is the error of a client whose request a closed filter refused.
func refusedBy(_ sdk.SocketRequest, err error) error {
	if err == nil {
		return nil
	}
	return rpc.Errorf(rpc.CodeFailed, sdk.Permission, err.Error())
}
