package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/modelhttp"
	"github.com/bothyd/bothy/sdk/provider"
)

// settings are the attributes of a provider block of this plugin. Context has
// a default of its own: Ollama's (4096) is too small to work with, and what
// models claim (131072 and more) does not fit most machines' memory.
type settings struct {
	BaseURL          string            `hcl:"base_url" default:"http://127.0.0.1:11434" doc:"Where the server is; host:port does."`
	APIKey           string            `hcl:"api_key,optional" secret:"true" doc:"Sent as a bearer token, for a server behind a proxy that wants one."`
	Headers          map[string]string `hcl:"headers,optional" doc:"Further headers of every request."`
	Context          int               `hcl:"context" default:"32768" doc:"The window to run a model with, in tokens; at most the model's own."`
	Start            bool              `hcl:"start" default:"true" doc:"Start ollama serve when a model of it is wanted, it is installed and nothing listens at base_url on this machine. It ends with the plugin."`
	ConnectTimeout   time.Duration     `hcl:"connect_timeout" default:"10s" doc:"How long the server may take to accept the connection."`
	FirstByteTimeout time.Duration     `hcl:"first_byte_timeout" default:"5m" doc:"How long it may take to begin its answer; it loads the model first."`
	IdleTimeout      time.Duration     `hcl:"idle_timeout" default:"60s" doc:"How long its stream may stay silent."`
}

// ollama speaks to one server.
type ollama struct {
	client *modelhttp.Client
	window int      // what to run a model with when nobody says
	known  sync.Map // shown, what /api/show said, by model
	server *served  // that may be started; nil is none
}

func newOllama(s settings, started *servers) (*ollama, error) {
	client, err := modelhttp.New(modelhttp.Options{
		Base: normalise(s.BaseURL), Key: strings.TrimSpace(s.APIKey), Headers: s.Headers,
		Timeouts: modelhttp.Timeouts{
			Connect:   s.ConnectTimeout,
			FirstByte: s.FirstByteTimeout,
			Idle:      s.IdleTimeout,
		},
	})
	if err != nil {
		return nil, err
	}
	if s.Context <= 0 {
		return nil, fmt.Errorf("context is %d: write a number of tokens, such as 32768", s.Context)
	}
	o := &ollama{client: client, window: s.Context}
	if address := startable(client.Base()); s.Start && address != "" {
		o.server = started.hold(address)
	}
	return o, nil
}

// startable is the address of a server on this machine that speaks plain HTTP;
// empty is none: nothing is started for another machine.
func startable(base *url.URL) string {
	ip := net.ParseIP(base.Hostname())
	if base.Scheme != "http" || base.Hostname() != "localhost" && !ip.IsLoopback() {
		return ""
	}
	return net.JoinHostPort(base.Hostname(), cmp.Or(base.Port(), "80"))
}

// awake starts the server where that is wanted.
func (o *ollama) awake(ctx context.Context) error {
	if o.server == nil {
		return nil
	}
	return o.server.awake(ctx)
}

// normalise reads an address as OLLAMA_HOST may hold it: host, host:port, a
// URL, an address to listen on (0.0.0.0), or the URL of an endpoint below it.
func normalise(base string) string {
	bare := !strings.Contains(base, "://")
	base = modelhttp.BaseURL(base, "/chat/completions", "/api/chat", "/v1", "/api")
	u, err := url.Parse(base)
	if err != nil {
		return base // the client says what is wrong with it
	}
	host, port := u.Hostname(), u.Port()
	switch host {
	case "", "0.0.0.0", "::":
		host = "127.0.0.1"
	}
	if port == "" && bare {
		port = "11434"
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Host = host; port != "" {
		u.Host = host + ":" + port
	}
	return u.String()
}

// Complete asks for one completion. See provider.Provider.
func (o *ollama) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	if err := o.awake(ctx); err != nil {
		return unavailable(err)
	}
	numCtx, err := o.contextFor(ctx, req)
	if err != nil {
		return err
	}
	wire := wireRequest(req, numCtx)
	wire.Think = o.thinkOf(ctx, req)
	answer, err := o.client.Post(ctx, "/api/chat", wire)
	if wire.Think != nil && refusesThinking(err) {
		wire.Think = nil // it was never accepted, so that this is no retry
		answer, err = o.client.Post(ctx, "/api/chat", wire)
	}
	if err != nil {
		return explain(err, req.Model)
	}
	defer func() { _ = answer.Close() }() // read as far as it was wanted
	c := &completion{ctx: ctx, client: o.client, out: modelhttp.NewSender(o.client, send), model: req.Model, window: numCtx, estimate: wire.tokens()}
	return c.read(answer)
}

// contextFor is the window to run the model with: the caller's, else the one
// that Models would tell. A server that does not answer the question is asked
// for the completion all the same; it will say itself what is wrong.
func (o *ollama) contextFor(ctx context.Context, req sdk.Request) (int, error) {
	if req.Context > 0 {
		return req.Context, nil
	}
	limited, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	about, err := o.show(limited, req.Model)
	if err != nil && ctx.Err() != nil {
		return 0, err
	}
	return o.usable(about.context(), o.loaded(limited)[withTag(req.Model)]), nil
}

// usable is the window that a model is run with: what it has now when that is
// larger, for then nothing need be loaded anew; otherwise as much of the
// model's own as the block allows.
func (o *ollama) usable(own, loaded int) int {
	window := o.window
	if own > 0 {
		window = min(window, own)
	}
	return max(window, loaded)
}

// Close ends idle connections, and the server that was started for them.
func (o *ollama) Close() {
	o.client.Close()
	if o.server != nil {
		o.server.release()
	}
}

// unavailable is a server that cannot be started as the error of a completion. A
// retry cannot help: it would start the server again.
func unavailable(err error) error {
	return &sdk.ProviderError{Class: sdk.ClassNever, Message: err.Error()}
}

// explain adds what a person can do about failures that Ollama has words for.
func explain(err error, model string) error {
	var e *sdk.ProviderError
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Status == http.StatusNotFound && strings.Contains(e.Message, "not found"):
		e.Message = "ollama has no model " + model + ": get it with `ollama pull " + model + "`, or choose one that `bothy models` lists"
	case strings.Contains(e.Message, "requires more system memory"):
		e.Class = sdk.ClassNever
		e.Message += "; choose a smaller model, or a smaller context in its block"
	case e.NoTools:
		e.Message = "the model " + model + " cannot call tools: choose one that can (`bothy models` says which), for instance qwen3 or llama3.1"
	}
	return err
}

var (
	_ provider.Provider = (*ollama)(nil)
	_ provider.Puller   = (*ollama)(nil)
)
