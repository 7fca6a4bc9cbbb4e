package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
)

// Grease is a connection over which a newer daemon seems to speak: now and then
// a request has a field, or its JSON a member, that no version has declared. A
// plugin that skips what it does not know never notices. What is added to the
// nth request of a method, if anything, depends on the seed alone: other methods
// may be called meanwhile, and one that is polled as often as time allows.
type Grease struct {
	grpc.ClientConnInterface
	seed   uint64
	mu     sync.Mutex
	random map[string]*rand.Rand // by method
}

// NewGrease makes one of every two requests on conn greasy. What the connection does is
// told in sentences, whose gRPC codes stay.
func NewGrease(conn grpc.ClientConnInterface, seed uint64) *Grease {
	return &Grease{ClientConnInterface: plain{conn}, seed: seed, random: map[string]*rand.Rand{}}
}

// of is what decides about the requests of a method.
func (g *Grease) of(method string) *rand.Rand {
	r, ok := g.random[method]
	if !ok {
		name := fnv.New64a()
		_, _ = name.Write([]byte(method)) // never fails
		r = rand.New(rand.NewPCG(g.seed, name.Sum64()))
		g.random[method] = r
	}
	return r
}

// Invoke implements grpc.ClientConnInterface.
func (g *Grease) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return g.ClientConnInterface.Invoke(ctx, method, g.grease(method, args), reply, opts...)
}

// NewStream implements grpc.ClientConnInterface.
func (g *Grease) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := g.ClientConnInterface.NewStream(ctx, desc, method, opts...)
	if err != nil {
		return nil, err
	}
	return greasyStream{ClientStream: s, g: g, method: method}, nil
}

type greasyStream struct {
	grpc.ClientStream
	g      *Grease
	method string
}

// SendMsg sends the request of the stream.
func (s greasyStream) SendMsg(m any) error { return s.ClientStream.SendMsg(s.g.grease(s.method, m)) }

// The fields that grease uses are far from those that a version will declare
// soon, and within what every implementation must accept.
const (
	firstGrease = 20000
	manyGrease  = 1000
)

// grease returns the message as it is, or a copy with something unknown in it.
func (g *Grease) grease(method string, m any) any {
	message, ok := m.(proto.Message)
	if !ok {
		return m
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	random := g.of(method)
	if random.IntN(2) == 0 {
		return m
	}
	greasy := proto.Clone(message)
	field := protowire.Number(firstGrease + random.IntN(manyGrease))
	var unknown []byte
	switch random.IntN(3) {
	case 0:
		unknown = protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), random.Uint64())
	case 1:
		unknown = protowire.AppendString(protowire.AppendTag(nil, field, protowire.BytesType), "of a later version")
	default:
		unknown = protowire.AppendFixed64(protowire.AppendTag(nil, field, protowire.Fixed64Type), random.Uint64())
	}
	greasy.ProtoReflect().SetUnknown(unknown)
	member := fmt.Sprintf("x_later_%d", random.IntN(manyGrease))
	switch r := greasy.(type) {
	case *pb.ConfigureRequest:
		r.SettingsJson = withMember(r.GetSettingsJson(), member, ofLater)
		r.Features = append(r.Features, member)
	case *pb.CompleteRequest:
		r.RequestJson = withMember(r.GetRequestJson(), member, ofLater)
	case *pb.ValidateRequest:
		r.WorkJson = withMember(r.GetWorkJson(), member, ofLater)
	case *pb.EventRequest:
		if open(r.GetName()) {
			r.PayloadJson = withMember(r.GetPayloadJson(), member, ofLater)
		}
	case *pb.FilterRequest:
		if open(r.GetName()) {
			r.ValueJson = withMember(r.GetValueJson(), member, ofLater)
		}
	}
	return greasy
}

// open reports whether what a hook carries may have members that are not known:
// a table of texts has none, for each of its members means something.
func open(name string) bool {
	p, known := sdk.FindHook(name)
	return !known || p.Payload.Kind() == reflect.Struct
}

// ofLater is what an unknown member holds.
const ofLater = `{"of":["a","later","version"]}`

// withMember adds a member to a JSON object; anything else stays as it is.
func withMember(object []byte, name, value string) []byte {
	trimmed := bytes.TrimSpace(object)
	if len(trimmed) < 2 || trimmed[0] != '{' || !json.Valid(trimmed) {
		return object
	}
	rest := bytes.TrimSpace(trimmed[1:])
	added := fmt.Appendf(nil, `{%q:%s`, name, value)
	if rest[0] != '}' {
		added = append(added, ',')
	}
	return append(added, rest...)
}
