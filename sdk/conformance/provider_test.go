package conformance

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/provider"
)

// away is a provider whose server answers each completion so.
type away struct {
	pb.UnimplementedPluginServer
	says func(send func(sdk.Delta) error) error
}

func (away) Models(context.Context) ([]sdk.Model, error) { return []sdk.Model{{Name: "m"}}, nil }

func (a away) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case req.Model != "m":
		return sdk.Errorf(sdk.NotFound, "there is no such model")
	}
	return a.says(send)
}

func (away) Health(context.Context, *pb.HealthRequest) (*pb.HealthResponse, error) {
	return &pb.HealthResponse{Ready: true}, nil
}

// TestCompletionThatIsRefused: what a provider's server says, or that it is not there, is no
// mistake of the plugin that passes it on; an answer without an end is.
func TestCompletionThatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		says     func(send func(sdk.Delta) error) error
		severity Severity
		text     string
	}{
		"unavailable": {func(func(sdk.Delta) error) error {
			return &sdk.ProviderError{Class: sdk.ClassGateway, Status: 503, Message: "the service is unavailable"}
		}, Warned, "the model m was asked, and did not answer, so that no answer was looked at: "},
		"no key":  {func(func(sdk.Delta) error) error { return sdk.Errorf(sdk.Permission, "the key is wrong") }, Warned, "the key is wrong"},
		"no end":  {func(send func(sdk.Delta) error) error { return send(sdk.Delta{Text: "yes"}) }, Failed, "without a finish"},
		"a panic": {func(func(sdk.Delta) error) error { panic("nil map") }, Failed, "nil map"},
		"well":    {func(send func(sdk.Delta) error) error { return send(sdk.Delta{Finish: &sdk.Finish{Reason: "stop"}}) }, Passed, ""},
	} {
		listener := bufconn.Listen(1 << 16)
		server := grpc.NewServer()
		pb.RegisterPluginServer(server, away{})
		provider.Register(server, away{says: c.says})
		served := make(chan error, 1)
		go func() { served <- server.Serve(listener) }()
		conn, err := grpc.NewClient("passthrough:///model",
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
			grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		Run(t.Context(), Subject{Conn: conn, Call: true}, ProviderChecks(sdk.Manifest{}), func(f Finding) {
			if f.Name == "provider: completion" && (f.Severity != c.severity || !strings.Contains(f.Text, c.text)) {
				t.Errorf("%s: %+v", name, f)
			}
		})
		server.Stop()
		if err := errors.Join(conn.Close(), <-served); err != nil {
			t.Error(err)
		}
	}
}
