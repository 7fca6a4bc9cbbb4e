package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/bothyd/bothy/sdk/hook"
	"github.com/bothyd/bothy/sdk/internal/pb"
)

// Grease is a connection over which a newer daemon seems to speak: now and then
// a request has a field, or its JSON a member, that no version has declared. A
// plugin that skips what it does not know never notices. What is added, and
// when, depends on the seed alone and on the order of the calls.
type Grease struct {
	grpc.ClientConnInterface
	mu     sync.Mutex
	random *rand.Rand
}

// NewGrease makes one of every two requests on conn greasy.
func NewGrease(conn grpc.ClientConnInterface, seed uint64) *Grease {
	return &Grease{ClientConnInterface: conn, random: rand.New(rand.NewPCG(seed, seed))}
}

// Invoke implements grpc.ClientConnInterface.
func (g *Grease) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return g.ClientConnInterface.Invoke(ctx, method, g.grease(args), reply, opts...)
}

// NewStream implements grpc.ClientConnInterface.
func (g *Grease) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := g.ClientConnInterface.NewStream(ctx, desc, method, opts...)
	if err != nil {
		return nil, err
	}
	return greasyStream{ClientStream: s, g: g}, nil
}

type greasyStream struct {
	grpc.ClientStream
	g *Grease
}

// SendMsg sends the request of the stream.
func (s greasyStream) SendMsg(m any) error { return s.ClientStream.SendMsg(s.g.grease(m)) }

// The fields that grease uses are far from those that a version will declare
// soon, and within what every implementation must accept.
const (
	firstGrease = 20000
	manyGrease  = 1000
)

// grease returns the message as it is, or a copy with something unknown in it.
func (g *Grease) grease(m any) any {
	message, ok := m.(proto.Message)
	if !ok {
		return m
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.random.IntN(2) == 0 {
		return m
	}
	greasy := proto.Clone(message)
	field := protowire.Number(firstGrease + g.random.IntN(manyGrease))
	var unknown []byte
	switch g.random.IntN(3) {
	case 0:
		unknown = protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), g.random.Uint64())
	case 1:
		unknown = protowire.AppendString(protowire.AppendTag(nil, field, protowire.BytesType), "of a later version")
	default:
		unknown = protowire.AppendFixed64(protowire.AppendTag(nil, field, protowire.Fixed64Type), g.random.Uint64())
	}
	greasy.ProtoReflect().SetUnknown(unknown)
	member := fmt.Sprintf("x_later_%d", g.random.IntN(manyGrease))
	switch r := greasy.(type) {
	case *pb.ConfigureRequest:
		r.SettingsJson = withMember(r.GetSettingsJson(), member)
		r.Features = append(r.Features, member)
	case *pb.CompleteRequest:
		r.RequestJson = withMember(r.GetRequestJson(), member)
	case *pb.EventRequest:
		if open(r.GetName()) {
			r.PayloadJson = withMember(r.GetPayloadJson(), member)
		}
	case *pb.FilterRequest:
		if open(r.GetName()) {
			r.ValueJson = withMember(r.GetValueJson(), member)
		}
	}
	return greasy
}

// open reports whether what a hook carries may have members that are not known:
// a table of texts has none, for each of its members means something.
func open(name string) bool {
	for _, p := range hook.Catalogue() {
		if p.Name == name {
			return p.Payload.Kind() == reflect.Struct
		}
	}
	return true
}

// withMember adds a member to a JSON object; anything else stays as it is.
func withMember(object []byte, name string) []byte {
	trimmed := bytes.TrimSpace(object)
	if len(trimmed) < 2 || trimmed[0] != '{' || !json.Valid(trimmed) {
		return object
	}
	rest := bytes.TrimSpace(trimmed[1:])
	added := fmt.Appendf(nil, `{%q:{"of":["a","later","version"]}`, name)
	if rest[0] != '}' {
		added = append(added, ',')
	}
	return append(added, rest...)
}
