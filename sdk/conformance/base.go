package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Services is where the plugin finds the daemon's services, as Configure says: at
// the path of a Unix socket, with a token to show in the metadata of each request.
type Services struct {
	Address, Token string
}

// Describe asks the plugin for its manifest, which it must have before it is
// configured.
func Describe(ctx context.Context, s Subject) (sdk.Manifest, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	resp, err := pb.NewPluginClient(s.Conn).Describe(ctx, &pb.DescribeRequest{})
	if err != nil {
		return sdk.Manifest{}, fmt.Errorf("calling Describe failed: %w", err)
	}
	m, err := sdk.ReadManifest(resp.GetManifestJson())
	if err != nil {
		return m, fmt.Errorf("what Describe answered is refused: %w", err)
	}
	return m, nil
}

// Configure hands the settings over.
func Configure(ctx context.Context, s Subject, at Services) error {
	b, err := json.Marshal(s.Settings)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*patience)
	defer cancel()
	resp, err := pb.NewPluginClient(s.Conn).Configure(ctx, &pb.ConfigureRequest{
		SettingsJson: b, HostAddress: at.Address, HostToken: at.Token, Features: features,
	})
	if err != nil {
		return fmt.Errorf("calling Configure failed: %w", err)
	}
	if err := wire.Error(resp.GetFailure()); err != nil || len(resp.GetManifestJson()) == 0 {
		return err
	}
	told, err := sdk.ReadManifest(resp.GetManifestJson()) // the daemon does not ask Describe for it then
	if err != nil {
		return fmt.Errorf("what Configure answered is refused: %w", err)
	}
	return describes(ctx, s, told, "the answer of Configure holds another manifest than that of Describe")
}

// describes wants the same manifest of Describe; the words say that it is another.
func describes(ctx context.Context, s Subject, want sdk.Manifest, words string) error {
	got, err := Describe(ctx, s)
	if err == nil && !reflect.DeepEqual(got, want) {
		err = errors.New(words)
	}
	return err
}

// Base are the checks of the Plugin service, which every plugin serves.
func Base(at Services) []Check {
	return []Check{
		{"configure again", func(ctx context.Context, s Subject) error { return reconfigured(ctx, s, at) }},
		{"health", healthy},
		{"describe twice", describedTwice},
		{"unknown service", unknownService},
		{"watch stays open", watched},
		{"calls at the same time", crowded},
	}
}

// reconfigured gives the same settings again: nothing may be another then.
func reconfigured(ctx context.Context, s Subject, at Services) error {
	if !slices.Contains(s.Manifest.Features, sdk.FeatureReconfigure) {
		return Skip("the plugin has not the feature %q: the daemon starts it anew instead", sdk.FeatureReconfigure)
	}
	before, err := Describe(ctx, s)
	if err != nil {
		return err
	}
	for range 2 {
		s.Settings.Generation++
		if err := Configure(ctx, s, at); err != nil {
			return fmt.Errorf("the same settings were taken once and not again: %w", err)
		}
	}
	return describes(ctx, s, before, "the manifest is another after the same settings were given again")
}

func healthy(ctx context.Context, s Subject) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	resp, err := pb.NewPluginClient(s.Conn).Health(ctx, &pb.HealthRequest{})
	if err != nil {
		return fmt.Errorf("calling Health failed: %w", err)
	}
	if !resp.GetReady() {
		return Warn("the plugin says that it cannot work now: %s", resp.GetMessage())
	}
	return nil
}

func describedTwice(ctx context.Context, s Subject) error {
	once, err := Describe(ctx, s)
	if err != nil {
		return err
	}
	return describes(ctx, s, once, "two answers of Describe differ, without a change")
}

// unknownService calls what a later version of the protocol may have.
func unknownService(ctx context.Context, s Subject) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, method := range []string{"/bothy.v1.Later/Call", "/bothy.v1.Plugin/Later"} {
		if err := s.Conn.Invoke(ctx, method, &emptypb.Empty{}, &emptypb.Empty{}); !absent(err) {
			return fmt.Errorf("%s, which nobody has declared, answered %v, want the code Unimplemented", method, err)
		}
	}
	return nil
}

// lookingOn is how long a stream is watched that should not end.
const lookingOn = 250 * time.Millisecond

func watched(ctx context.Context, s Subject) error {
	ctx, cancel := context.WithCancel(ctx) // no deadline: the plugin would see it, and end the stream in time
	defer time.AfterFunc(lookingOn, cancel).Stop()
	defer cancel()
	stream, err := pb.NewPluginClient(s.Conn).Watch(ctx, &pb.WatchRequest{})
	if err != nil {
		return fmt.Errorf("calling Watch failed: %w", err)
	}
	for {
		resp, err := stream.Recv()
		var m sdk.Manifest
		switch {
		case ctx.Err() != nil:
			return nil
		case absent(err):
			return Warn("the plugin does not serve Watch: the daemon never learns that its manifest changed")
		case err != nil:
			return fmt.Errorf("the stream of Watch ended by itself: %w", err)
		case json.Unmarshal(resp.GetManifestJson(), &m) != nil:
			return fmt.Errorf("the stream of Watch brought something that is no manifest")
		}
	}
}

// crowd is how many calls are made at the same time.
const crowd = 16

// crowded calls what needs nothing many times at once.
func crowded(ctx context.Context, s Subject) error {
	describe := func() error {
		_, err := Describe(ctx, s)
		return err
	}
	for _, err := range together(describe, func() error { return alive(ctx, s) }) {
		if err != nil {
			return fmt.Errorf("one of %d calls at the same time: %w", 2*crowd, err)
		}
	}
	return nil
}

// together makes each of the calls many times at once, and returns how they went.
func together(calls ...func() error) []error {
	errs := make([]error, crowd*len(calls))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = calls[i%len(calls)]() })
	}
	all.Wait()
	return errs
}

// alive reports what keeps the plugin from answering at all.
func alive(ctx context.Context, s Subject) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := pb.NewPluginClient(s.Conn).Health(ctx, &pb.HealthRequest{}); err != nil && !absent(err) { // a kind may be served alone
		return fmt.Errorf("the plugin does not answer any more: %w", err)
	}
	return nil
}
