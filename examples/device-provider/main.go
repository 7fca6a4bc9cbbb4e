// Command bothy-plugin-device is a provider whose server wants a person to sign in: the
// person opens an address, enters a code there, and the provider waits meanwhile (RFC
// 8628). Its model greets who signed in.
package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/provider"
)

type settings struct {
	URL    string `hcl:"url" doc:"Where the server is."`
	Client string `hcl:"client_id" default:"bothy-example" doc:"What the server knows this program by."`
	Token  string `hcl:"token,optional" secret:"true" doc:"What signing in came to."`
}

func main() {
	plugin.NewConfiguredProvider(func(s settings) (provider.Provider, error) { return newDevice(s), nil }).Serve("device", "1.0.0")
}

// device implements provider.Provider and provider.Authenticator.
type device struct {
	settings
	http *http.Client
}

func newDevice(s settings) *device {
	s.URL = strings.TrimSuffix(s.URL, "/")
	return &device{settings: s, http: &http.Client{Timeout: 30 * time.Second}}
}

// Models lists the one there is.
func (*device) Models(context.Context) ([]sdk.Model, error) {
	return []sdk.Model{{Name: "greeter", Context: 8000, Streaming: true, Inputs: []string{"text"}}}, nil
}

// Complete greets who signed in, by the name that the server tells for the token.
func (d *device) Complete(ctx context.Context, _ sdk.Request, send func(sdk.Delta) error) error {
	if d.Token == "" {
		return &sdk.ProviderError{Class: sdk.ClassNever, Message: "nobody is signed in: sign in, and set token to what that came to"}
	}
	name, err := d.account(ctx, d.Token)
	if err != nil {
		return &sdk.ProviderError{Class: sdk.ClassNever, Message: err.Error()}
	}
	if err := send(sdk.Delta{Text: fmt.Sprintf("Hello, %s!", name)}); err != nil {
		return err
	}
	return send(sdk.Delta{Finish: &sdk.Finish{Reason: "stop"}})
}

var (
	_ provider.Provider      = (*device)(nil)
	_ provider.Authenticator = (*device)(nil)
)
