package main

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/modelhttp"
	"github.com/bothyd/bothy/sdk/provider"
)

// settings are the attributes of a provider block of this plugin.
type settings struct {
	BaseURL          string            `hcl:"base_url" default:"https://api.openai.com/v1" doc:"Where the server is: the URL below which /chat/completions lies."`
	APIKey           string            `hcl:"api_key,optional" secret:"true" doc:"Sent as a bearer token. Local servers need none."`
	Headers          map[string]string `hcl:"headers,optional" doc:"Further headers of every request."`
	Profile          string            `hcl:"profile,optional" doc:"Which server it is, where base_url does not tell: openai, groq, openrouter, xai, mistral, deepseek, vllm, llamacpp, lmstudio, or plain for none of them."`
	ConnectTimeout   time.Duration     `hcl:"connect_timeout" default:"10s" doc:"How long the server may take to accept the connection."`
	FirstByteTimeout time.Duration     `hcl:"first_byte_timeout" default:"5m" doc:"How long it may take to begin its answer; a local server loads its model first."`
	IdleTimeout      time.Duration     `hcl:"idle_timeout" default:"60s" doc:"How long its stream may stay silent."`
}

// openai speaks to one server.
type openai struct {
	client  *modelhttp.Client
	profile profile
	silent  bool                  // the server takes a prompt that is too long and says nothing
	models  sync.Map              // habits, by model
	shape   atomic.Pointer[shape] // what the server was found to refuse
}

// silent are the hosts that answer whatever part of a prompt fits (z.ai's); all that
// shows is that the prompt they count is larger than the model's window.
var silent = regexp.MustCompile(`(?:^|\.)(?:z\.ai|bigmodel\.cn)$`)

func newOpenAI(s settings) (*openai, error) {
	base := normalise(s.BaseURL)
	var known profile
	if at, err := url.Parse(base); err == nil { // the client says what is wrong with another
		if known, err = profileOf(strings.TrimSpace(s.Profile), at); err != nil {
			return nil, err
		}
	}
	client, err := modelhttp.New(modelhttp.Options{
		Base: base, Key: strings.TrimSpace(s.APIKey), Headers: known.withHeaders(s.Headers),
		Timeouts: modelhttp.Timeouts{
			Connect:   s.ConnectTimeout,
			FirstByte: s.FirstByteTimeout,
			Idle:      s.IdleTimeout,
		},
	})
	if err != nil {
		return nil, err
	}
	o := &openai{client: client, profile: known, silent: silent.MatchString(client.Base().Hostname())}
	o.shape.Store(&known.shape)
	return o, nil
}

// normalise makes the URL below which /models and /chat/completions lie. A
// bare host gets /v1; the URL of an endpoint, as people copy it, loses its tail.
func normalise(base string) string {
	base = modelhttp.BaseURL(base, "/chat/completions", "/models")
	u, err := url.Parse(base)
	if err != nil || u.Path != "" {
		return base
	}
	u.Path = "/v1"
	return u.String()
}

// Complete asks for one completion. See provider.Provider.
func (o *openai) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	answer, err := o.ask(ctx, req)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Close() }() // read as far as it was wanted
	c := newCompletion(ctx, o.client, send)
	if o.silent {
		c.window = req.Context
	}
	return c.read(answer)
}

// ask sends the request, in another shape when the server refuses a field that
// the dialect has and it does not. This is no retry: the request was never
// accepted, and each shape is tried once.
func (o *openai) ask(ctx context.Context, req sdk.Request) (*modelhttp.Answer, error) {
	for {
		used := *o.shape.Load()
		answer, err := o.client.Post(ctx, "/chat/completions", o.wireRequest(req, used))
		if err == nil || !o.reshape(used, err) && !o.learn(req, err) {
			return answer, err
		}
	}
}

// reshape learns from a refusal. It reports whether the shape is another one
// than the one that was refused.
func (o *openai) reshape(used shape, err error) bool {
	better := used.without(err)
	if better == used {
		return false
	}
	o.shape.Store(&better)
	return true
}

// Close ends idle connections.
func (o *openai) Close() { o.client.Close() }

var _ provider.Provider = (*openai)(nil)
