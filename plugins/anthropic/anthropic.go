package main

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/modelhttp"
	"github.com/bothyd/bothy/sdk/provider"
)

// version is the version of the wire, which every request names.
const version = "2023-06-01"

// official is the host of the server that the dialect comes from.
const official = "api.anthropic.com"

// settings are the attributes of a provider block of this plugin.
type settings struct {
	BaseURL          string            `hcl:"base_url" default:"https://api.anthropic.com" doc:"Where the server is: the URL below which /v1/messages lies."`
	APIKey           string            `hcl:"api_key,optional" secret:"true" doc:"Sent as x-api-key. A server that wants a bearer token gets it by headers."`
	Headers          map[string]string `hcl:"headers,optional" doc:"Further headers of every request, such as anthropic-beta."`
	ConnectTimeout   time.Duration     `hcl:"connect_timeout" default:"10s" doc:"How long the server may take to accept the connection."`
	FirstByteTimeout time.Duration     `hcl:"first_byte_timeout" default:"5m" doc:"How long it may take to begin its answer."`
	IdleTimeout      time.Duration     `hcl:"idle_timeout" default:"60s" doc:"How long its stream may stay silent."`
}

// anthropic speaks to one server.
type anthropic struct {
	client *modelhttp.Client
	known  sync.Map // sdk.Model, what the server tells of it, by name
	shapes sync.Map // shape, what a model was found to refuse, by name
}

func newAnthropic(s settings) (*anthropic, error) {
	headers := map[string]string{"anthropic-version": version}
	for name, value := range s.Headers {
		headers[strings.ToLower(name)] = value
	}
	client, err := modelhttp.New(modelhttp.Options{
		Base: normalise(s.BaseURL), Key: strings.TrimSpace(s.APIKey), KeyHeader: "x-api-key", Headers: headers,
		Timeouts: modelhttp.Timeouts{
			Connect:   s.ConnectTimeout,
			FirstByte: s.FirstByteTimeout,
			Idle:      s.IdleTimeout,
		},
	})
	if err != nil {
		return nil, err
	}
	return &anthropic{client: client}, nil
}

// normalise makes the URL below which /v1/messages lies.
func normalise(base string) string { return modelhttp.BaseURL(base, "/messages", "/models", "/v1") }

// Complete asks for one completion. See provider.Provider.
func (a *anthropic) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	answer, err := a.ask(ctx, req)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Close() }() // read as far as it was wanted
	return newCompletion(a.client, send).read(answer)
}

// ask sends the request, in another shape when the server refuses a field that
// the dialect has and this model does not take. This is no retry: the request was
// never accepted, and each shape is tried once.
func (a *anthropic) ask(ctx context.Context, req sdk.Request) (*modelhttp.Answer, error) {
	room, err := a.room(ctx, req)
	if err != nil {
		return nil, err
	}
	used := a.shape(req.Model)
	for {
		answer, err := a.client.Post(ctx, "/v1/messages", a.wireRequest(req, room, used))
		if err == nil {
			return answer, nil
		}
		better := used.without(err)
		if better == used && req.Reasoning != "" {
			better = used.told(err)
		}
		if better == used {
			return nil, err
		}
		used = better
		a.shapes.Store(req.Model, used.lasting())
	}
}

// Close ends idle connections.
func (a *anthropic) Close() { a.client.Close() }

var _ provider.Provider = (*anthropic)(nil)
