package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
)

// rogue serves the protocol without the SDK: no caps of its own, no Cancel,
// fields that nobody declared. Its messages are written by hand.
func rogue() {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: plugin.Protocol, MagicCookieKey: plugin.CookieKey, MagicCookieValue: plugin.CookieValue,
		},
		VersionedPlugins: map[int]goplugin.PluginSet{plugin.Protocol: {plugin.KindPlugin: bare{}}},
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts, grpc.UnknownServiceHandler(answer))...)
		},
	})
}

type bare struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (bare) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error { return nil }

// answer serves every method. A wrapped value has the same bytes as a message
// whose first field is of that type.
func answer(_ any, s grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(s)
	var req emptypb.Empty
	if err := s.RecvMsg(&req); err != nil && err != io.EOF {
		return err
	}
	switch method {
	case "/bothy.v1.Plugin/Describe":
		return describe(s)
	case "/bothy.v1.Plugin/Configure":
		offered.Store(&services{address: field(&req, 3), token: field(&req, 4)})
		return s.SendMsg(&emptypb.Empty{})
	case "/bothy.v1.Plugin/Drain":
		return s.SendMsg(&emptypb.Empty{})
	case "/bothy.v1.Plugin/Health":
		return s.SendMsg(wrapperspb.Bool(true))
	case "/bothy.v1.Tool/Invoke":
		return invoke(s, &req)
	}
	return status.Error(codes.Unimplemented, method)
}

func describe(s grpc.ServerStream) error {
	object := json.RawMessage(`{"type":"object"}`)
	b, err := json.Marshal(sdk.Manifest{Name: "rogue", Protocol: plugin.Protocol, Kinds: []string{plugin.KindTool}, Tools: []sdk.ToolSpec{
		{Name: "huge", Parameters: object}, {Name: "deaf", Parameters: object}, {Name: "strange", Parameters: object},
		{Name: "direct", Parameters: object}, {Name: "tokenless", Parameters: object},
	}, Calls: sdk.Calls{Schemes: []string{"file"}}})
	if err != nil {
		return err
	}
	m := wrapperspb.Bytes(b)
	m.ProtoReflect().SetUnknown([]byte{0xfa, 0x7f, 3, 'n', 'e', 'w'}) // field 2047, of a later version
	return s.SendMsg(m)
}

// invoke tells the tools apart by the raw request.
func invoke(s grpc.ServerStream, req proto.Message) error {
	raw := string(req.ProtoReflect().GetUnknown())
	switch {
	case strings.Contains(raw, "huge"):
		return s.SendMsg(wrapperspb.Bytes(make([]byte, 64<<20)))
	case strings.Contains(raw, "deaf"):
		<-s.Context().Done() // hears only of a broken stream
		return s.Context().Err()
	case strings.Contains(raw, "strange"):
		later := &emptypb.Empty{}
		later.ProtoReflect().SetUnknown([]byte{0xfa, 0x7f, 3, 'n', 'e', 'w'})
		if err := s.SendMsg(later); err != nil { // a piece of a later version
			return err
		}
		return s.SendMsg(result("ok"))
	case strings.Contains(raw, "direct"):
		return s.SendMsg(result(direct(s.Context(), offered.Load().token)))
	case strings.Contains(raw, "tokenless"):
		return s.SendMsg(result(direct(s.Context(), "guessed")))
	}
	return fmt.Errorf("unknown tool in %q", raw)
}

// result is InvokeResponse.result{success: true, output: text}.
func result(text string) proto.Message {
	inner := protowire.AppendTag(nil, 1, protowire.VarintType)
	inner = protowire.AppendVarint(inner, 1)
	inner = protowire.AppendTag(inner, 2, protowire.BytesType)
	inner = protowire.AppendString(inner, text)
	m := &emptypb.Empty{}
	m.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), inner))
	return m
}

// services is where Configure said that the daemon's services are.
type services struct{ address, token string }

var offered atomic.Pointer[services]

// field reads a text field of a message whose type is not known.
func field(m proto.Message, number protowire.Number) string {
	for b := []byte(m.ProtoReflect().GetUnknown()); len(b) > 0; {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return ""
		}
		b = b[size:]
		if n == number && kind == protowire.BytesType {
			v, _ := protowire.ConsumeString(b)
			return v
		}
		if size = protowire.ConsumeFieldValue(n, kind, b); size < 0 {
			return ""
		}
		b = b[size:]
	}
	return ""
}

// direct asks for an entry at the address, with or without the token.
func direct(ctx context.Context, token string) string {
	conn, err := grpc.NewClient("unix:"+offered.Load().address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err.Error()
	}
	defer func() { _ = conn.Close() }() // the answer is what counts
	ctx = metadata.AppendToOutgoingContext(host.Incoming(ctx), host.TokenKey, token)
	e, err := host.NewClient(conn).Entry(ctx, "known")
	if err != nil {
		return fmt.Sprintf("%s: %v", sdk.OutcomeOf(err), err)
	}
	return e.Body
}

func (bare) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this is the plugin's side")
}
