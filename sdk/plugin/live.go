package plugin

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// features are what this plugin can beyond the floor of the protocol.
func (s *service) features() []string {
	var list []string
	if _, provider := s.o.Provider.(interface{ reconfigures() }); provider || s.o.Reconfigures {
		list = append(list, sdk.FeatureReconfigure)
	}
	if s.o.Release != nil {
		list = append(list, sdk.FeatureRelease)
	}
	return list
}

// Release lets the plugin give up a run.
func (s *service) Release(ctx context.Context, req *pb.ReleaseRequest) (*pb.ReleaseResponse, error) {
	return &pb.ReleaseResponse{Failure: wire.Failure(s.release(ctx, req))}, nil
}

func (s *service) release(ctx context.Context, req *pb.ReleaseRequest) (err error) {
	if s.o.Release == nil {
		return sdk.Errorf(sdk.Unavailable, "this plugin keeps nothing for a run")
	}
	defer wire.Rescue("the plugin's Release", &err)
	return s.o.Release(s.serving(ctx), req.GetRun(), req.GetRunDir())
}

// blank fills Options.Config anew each time: what one configuration left out
// does not come from the one before it.
type blank struct {
	config any           // Options.Config; nil is none
	was    reflect.Value // its struct, as the author made it
}

func newBlank(config any) *blank {
	b := &blank{config: config}
	if v := reflect.ValueOf(config); v.Kind() == reflect.Pointer && !v.IsNil() {
		b.was = reflect.New(v.Elem().Type()).Elem()
		b.was.Set(v.Elem())
	}
	return b
}

// fill decodes a configuration. Nothing is changed by one that is wrong; undo
// brings back what was there before.
func (b *blank) fill(config json.RawMessage) (undo func(), err error) {
	if b.config == nil {
		return func() {}, nil
	}
	fresh := reflect.New(b.was.Type())
	fresh.Elem().Set(b.was)
	if err := Decode(config, fresh.Interface()); err != nil {
		return nil, err
	}
	into := reflect.ValueOf(b.config).Elem()
	last := reflect.New(into.Type()).Elem()
	last.Set(into)
	into.Set(fresh.Elem())
	return func() { into.Set(last) }, nil
}
