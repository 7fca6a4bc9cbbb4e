package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/hook"
	"github.com/bothyd/bothy/sdk/internal/pb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model is a plugin that keeps every promise; a defect replaces what it answers.
type model struct {
	pb.UnimplementedPluginServer
	pb.UnimplementedToolServer
	pb.UnimplementedHookServer

	manifest  sdk.Manifest
	configure func(*pb.ConfigureRequest) *pb.Failure
	watch     func(ctx context.Context) error
	invoke    func(*pb.InvokeRequest, grpc.ServerStreamingServer[pb.InvokeResponse]) error
	settle    func() *pb.SettleResponse
	call      func() *pb.CallResponse
	project   func(*pb.ProjectRequest) *pb.ProjectResponse
	event     func() *pb.Failure
	filter    func() *pb.FilterResponse
	over      chan struct{} // closed when the checks are
	drained   bool
	deaf      bool // after Drain it goes on

	mu       sync.Mutex
	projects map[string]bool // that its calls were told of
	heard    string          // the last value of a subscription
}

func well() *model {
	object := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)
	return &model{over: make(chan struct{}), projects: map[string]bool{}, manifest: sdk.Manifest{
		Name: "model", Version: "1", Protocol: 1, Kinds: []string{"tool", "hook"}, Features: []string{sdk.FeatureReconfigure},
		Tools:         []sdk.ToolSpec{{Name: "count", Description: "Counts.", Parameters: object, Annotations: sdk.Annotations{ReadOnly: true}}},
		Subscriptions: []sdk.Subscription{{Name: "run.reset"}},
		Schemes:       []sdk.Scheme{{Name: "note", ModelVisible: true}}, Projections: []string{"note"}, Grants: []string{sdk.GrantEntries},
	}}
}

func (m *model) Describe(context.Context, *pb.DescribeRequest) (*pb.DescribeResponse, error) {
	b, err := json.Marshal(m.manifest)
	return &pb.DescribeResponse{ManifestJson: b}, err
}

func (m *model) Configure(_ context.Context, r *pb.ConfigureRequest) (*pb.ConfigureResponse, error) {
	if m.configure != nil {
		return &pb.ConfigureResponse{Failure: m.configure(r)}, nil
	}
	return &pb.ConfigureResponse{}, nil
}

func (m *model) Health(context.Context, *pb.HealthRequest) (*pb.HealthResponse, error) {
	return &pb.HealthResponse{Ready: true}, nil
}

func (m *model) Watch(_ *pb.WatchRequest, s grpc.ServerStreamingServer[pb.WatchResponse]) error {
	if m.watch != nil {
		return m.watch(s.Context())
	}
	<-s.Context().Done()
	return nil
}

func (m *model) Project(_ context.Context, r *pb.ProjectRequest) (*pb.ProjectResponse, error) {
	switch {
	case !strings.HasPrefix(r.GetEntry().GetPath(), "note://"):
		return &pb.ProjectResponse{Failure: &pb.Failure{Outcome: string(sdk.NotFound), Message: "no"}}, nil
	case m.project != nil:
		return m.project(r), nil
	}
	return &pb.ProjectResponse{Text: r.GetLevel() + r.GetEntry().GetBody()}, nil
}

func (m *model) Drain(context.Context, *pb.DrainRequest) (*pb.DrainResponse, error) {
	m.drained = !m.deaf
	return &pb.DrainResponse{}, nil
}

func (m *model) Invoke(r *pb.InvokeRequest, s grpc.ServerStreamingServer[pb.InvokeResponse]) error {
	m.mu.Lock()
	m.projects[r.GetProject()] = true
	m.mu.Unlock()
	var arguments struct{ N *int }
	d := json.NewDecoder(strings.NewReader(string(r.GetArgumentsJson())))
	d.DisallowUnknownFields()
	switch {
	case m.drained:
		return status.Error(codes.Unavailable, "draining")
	case r.GetTool() != "count":
		return s.Send(refusal(sdk.NotFound))
	case d.Decode(&arguments) != nil || arguments.N == nil:
		return s.Send(refusal(sdk.Validation))
	case m.invoke != nil:
		return m.invoke(r, s)
	}
	if err := s.Send(&pb.InvokeResponse{Piece: &pb.InvokeResponse_Chunk{Chunk: &pb.Chunk{Channel: 1, Data: []byte("1")}}}); err != nil {
		return err
	}
	return s.Send(done())
}

func refusal(o sdk.Outcome) *pb.InvokeResponse {
	return &pb.InvokeResponse{Piece: &pb.InvokeResponse_Failure{Failure: &pb.Failure{Outcome: string(o), Message: "no"}}}
}

func done() *pb.InvokeResponse {
	return &pb.InvokeResponse{Piece: &pb.InvokeResponse_Result{Result: &pb.ToolResult{Success: true}}}
}

func (m *model) Call(context.Context, *pb.InvokeRequest) (*pb.CallResponse, error) {
	if m.call != nil {
		return m.call(), nil
	}
	return nil, status.Error(codes.Unimplemented, "no")
}

func (m *model) Cancel(context.Context, *pb.CancelRequest) (*pb.CancelResponse, error) {
	return &pb.CancelResponse{}, nil
}

func (m *model) Settle(context.Context, *pb.InvokeRequest) (*pb.SettleResponse, error) {
	if m.settle != nil {
		return m.settle(), nil
	}
	return nil, status.Error(codes.Unimplemented, "no")
}

func (m *model) Event(_ context.Context, r *pb.EventRequest) (*pb.EventResponse, error) {
	if r.GetName() != noEvent {
		m.heard = string(r.GetPayloadJson())
	}
	if m.drained {
		return nil, status.Error(codes.Unavailable, "draining")
	}
	if m.event != nil {
		return &pb.EventResponse{Failure: m.event()}, nil
	}
	return &pb.EventResponse{}, nil
}

func (m *model) Filter(_ context.Context, r *pb.FilterRequest) (*pb.FilterResponse, error) {
	if m.filter != nil && r.GetName() != noFilter {
		return m.filter(), nil
	}
	return &pb.FilterResponse{ValueJson: r.GetValueJson()}, nil
}

// tried runs all checks over a model and returns what is not well, by name.
func tryAll(t *testing.T, m *model) map[string]Finding {
	t.Helper()
	listener := bufconn.Listen(1 << 16)
	server := grpc.NewServer()
	pb.RegisterPluginServer(server, m)
	pb.RegisterToolServer(server, m)
	pb.RegisterHookServer(server, m)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///model",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		close(m.over)
		server.Stop()
		if err := errors.Join(conn.Close(), <-served); err != nil {
			t.Error(err)
		}
	}()
	found := map[string]Finding{}
	told := func(f Finding) {
		if f.Severity != Passed && f.Severity != Skipped {
			found[f.Name] = f
		}
	}
	s := Subject{Conn: NewGrease(conn, 8), Call: true, Project: "/p", RunDir: "/r", Settings: sdk.Settings{Config: json.RawMessage("{}")}}
	if s.Manifest, err = Describe(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	told(finding("manifest", Manifest(s.Manifest)))
	told(finding("configure", Configure(t.Context(), s, Services{})))
	Run(t.Context(), s, Base(Services{}), told)
	Run(t.Context(), s, Kinds(s.Manifest), told)
	Run(t.Context(), s, []Check{Drained}, told)
	return found
}

func TestWell(t *testing.T) {
	if found := tryAll(t, well()); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// TestProjectOfCalls: a call is told of the project as a daemon tells it, where the manifest
// asks for its files; the values of hooks have it all the same.
func TestProjectOfCalls(t *testing.T) {
	for want, grants := range map[string][]string{"": {sdk.GrantEntries}, "/p": {sdk.GrantEntries, sdk.GrantProject}} {
		m := well()
		m.manifest.Grants = grants
		if found := tryAll(t, m); len(found) > 0 {
			t.Errorf("%+v", found)
		}
		if !m.projects[want] || want == "" && len(m.projects) != 1 || !strings.Contains(m.heard, `"project":"/p"`) {
			t.Errorf("with the grants %v calls were told of the projects %v, and a hook %s", grants, m.projects, m.heard)
		}
	}
}

// described gives the argument of the tool a description of so many bytes.
func described(m *model, size int) {
	m.manifest.Tools[0].Parameters = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","description":"` + strings.Repeat("x", size) + `"}},"required":["n"],"additionalProperties":false}`)
}

// TestSettings: settings that a block would be refused for fail the test, as they do in the daemon.
func TestSettings(t *testing.T) {
	m := well().manifest
	m.Config = &sdk.ConfigSchema{Attributes: []sdk.ConfigAttribute{
		{Name: "style", Type: "string", Enum: []string{"plain"}, Default: json.RawMessage(`"plain"`)}, {Name: "url", Type: "string", Required: true},
	}}
	for given, want := range map[string]string{
		`{"url":"u"}`:                "",
		``:                           `the settings were refused: attribute "url" is required; give --settings with what its block must say`,
		`{"url":"u","foo":1}`:        `attribute "foo": the plugin does not declare it: it declares style, url`,
		`{"url":"u","style":5}`:      `attribute "style": it must be a text, and this is a number`,
		`{"url":"u","style":"loud"}`: `attribute "style": it must be one of "plain"`,
	} {
		tr := &trial{o: Options{Config: json.RawMessage(given)}, dir: t.TempDir()}
		_, refused, err := tr.settings(m)
		f := finding("configure", tr.refusal(refused))
		if err != nil || (f.Severity == Failed) != (want != "") || !strings.Contains(f.Text, want) {
			t.Errorf("%s: %+v, %v, want %q", given, f, err, want)
		}
	}
	if _, _, err := (&trial{o: Options{Config: json.RawMessage("[]")}, dir: t.TempDir()}).settings(m); err == nil || !strings.Contains(err.Error(), "no JSON object") {
		t.Error(err)
	}
}

// TestManyTools: above the budget is a warning, and far above it no daemon takes it.
func TestManyTools(t *testing.T) {
	m := well().manifest
	for len(m.Tools) <= sdk.ToolsBudget {
		spec := m.Tools[0]
		spec.Name = fmt.Sprintf("count%d", len(m.Tools))
		m.Tools = append(m.Tools, spec)
	}
	if f := finding("manifest", Manifest(m)); f.Severity != Warned || !strings.Contains(f.Text, "it declares 201 tools") {
		t.Errorf("%+v", f)
	}
	m.Tools = make([]sdk.ToolSpec, sdk.MaxTools+1)
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sdk.ReadManifest(b); sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), "declares 1601 tools, at most 1600") {
		t.Error(err)
	}
}

// TestDefects: a plugin with one defect fails the check that is about it, and no
// other.
func TestDefects(t *testing.T) {
	strict := func(b []byte) *pb.Failure {
		var s sdk.Settings
		d := json.NewDecoder(strings.NewReader(string(b)))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			return &pb.Failure{Outcome: "validation", Message: err.Error()}
		}
		return nil
	}
	for name, c := range map[string]struct {
		defect   func(*model)
		check    string
		severity Severity
		says     string
	}{
		"an attribute of the daemon's": {func(m *model) {
			m.manifest.Config = &sdk.ConfigSchema{Attributes: []sdk.ConfigAttribute{{Name: "enabled", Type: "bool"}}}
		}, "manifest", Failed, "enabled is the daemon's own attribute of a block"},
		"a body that is no text": {func(m *model) { m.manifest.Tools[0].Body = "n" }, "manifest", Failed, `tool count: its body is to be the argument "n"`},
		"bounds that nothing meets": {func(m *model) {
			m.manifest.Tools[0].Parameters = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"at":{"type":"object","properties":{"from":{"type":"array","items":{"type":"number","minimum":5,"maximum":1}}}}},"required":["n"]}`)
		}, "manifest", Failed, `tool count: property "at.from[]": its minimum is above its maximum`},
		"too deep a schema": {func(m *model) {
			m.manifest.Tools[0].Parameters = json.RawMessage(`{"type":"object","properties":{"a":` + strings.Repeat(`{"items":`, 200) + `{}` + strings.Repeat(`}`, 200) + `}}`)
		}, "manifest", Failed, "tool count: the daemon does not take it: the words of its JSON Schema cannot be read: they are nested deeper"},
		"an endless schema": {func(m *model) {
			m.manifest.Tools[0].Parameters = json.RawMessage(`{"type":"object","allOf":[{"$ref":"#"}]}`)
		}, "manifest", Failed, "refers to itself"},
		"a large schema":     {func(m *model) { described(m, sdk.SchemaBudget) }, "manifest", Warned, "tool count: its JSON Schema has"},
		"too large a schema": {func(m *model) { described(m, sdk.MaxSchema) }, "manifest", Failed, "bytes, at most 524288 are taken"},
		"a large manifest":   {func(m *model) { m.manifest.Tools[0].Description = strings.Repeat("x", sdk.ManifestBudget) }, "manifest", Warned, "the manifest has"},
		"an empty answer in one": {func(m *model) {
			m.manifest.Tools[0].Whole, m.call = true, func() *pb.CallResponse { return &pb.CallResponse{} }
		}, "tool count", Failed, "neither a result nor a failure"},
		"a failure and a result in one": {func(m *model) {
			m.manifest.Tools[0].Whole, m.call = true, func() *pb.CallResponse {
				return &pb.CallResponse{Result: &pb.ToolResult{Success: true}, Failure: &pb.Failure{Message: "no"}}
			}
		}, "tool count", Failed, "or both"},
		"no version":         {func(m *model) { m.manifest.Version = "" }, "manifest", Failed, "no version"},
		"another protocol":   {func(m *model) { m.manifest.Protocol = 2 }, "manifest", Failed, "the protocol is 2"},
		"unknown kind":       {func(m *model) { m.manifest.Kinds = append(m.manifest.Kinds, "toll") }, "manifest", Failed, `no kind "toll"`},
		"unknown grant":      {func(m *model) { m.manifest.Grants = append(m.manifest.Grants, "root") }, "manifest", Failed, `no grant "root"`},
		"unknown feature":    {func(m *model) { m.manifest.Features = append(m.manifest.Features, "flies") }, "manifest", Warned, `"flies"`},
		"needs relative":     {func(m *model) { m.manifest.Needs.Paths = []string{"notes"} }, "manifest", Failed, `the path "notes", which is neither absolute`},
		"needs upwards":      {func(m *model) { m.manifest.Needs.ReadPaths = []string{"~/notes/../.ssh"} }, "manifest", Failed, "which leads out by its \"..\" parts"},
		"needs two things":   {func(m *model) { m.manifest.Needs = sdk.Needs{Network: true, Unconfined: "why"} }, "manifest", Failed, "cannot be confined, and what must be open"},
		"calls ungranted":    {func(m *model) { m.manifest.Calls.Tools = []string{"*"} }, "manifest", Failed, `the grant "tools" is not asked for`},
		"unknown hook":       {func(m *model) { m.manifest.Subscriptions[0].Name = "run.rset" }, "manifest", Failed, `"run.reset"`},
		"event fails closed": {func(m *model) { m.manifest.Subscriptions[0].Failure = "closed" }, "manifest", Failed, "cannot fail closed"},
		"undeclared kind":    {func(m *model) { m.manifest.Kinds, m.manifest.Subscriptions = []string{"tool"}, nil }, "kinds", Warned, "hook is served and not declared"},
		"kind not served": {func(m *model) {
			m.manifest.Kinds = append(m.manifest.Kinds, "provider")
		}, "kinds", Failed, "provider is declared"},
		"strict settings": {func(m *model) {
			m.configure = func(r *pb.ConfigureRequest) *pb.Failure { return strict(r.GetSettingsJson()) }
		}, "configure again", Failed, "unknown field"},
		"watch ends":  {func(m *model) { m.watch = func(context.Context) error { return nil } }, "watch stays open", Failed, "ended by itself"},
		"watch fails": {func(m *model) { m.watch = func(context.Context) error { return status.Error(codes.Internal, "x") } }, "watch stays open", Failed, "ended by itself"},
		"no watch": {func(m *model) {
			m.watch = func(context.Context) error { return status.Error(codes.Unimplemented, "x") }
		}, "watch stays open", Warned, "does not serve Watch"},
		"a guess": {func(m *model) {
			m.settle = func() *pb.SettleResponse { return &pb.SettleResponse{Result: &pb.ToolResult{Success: true}} }
		}, "tool: settle of a call never made", Failed, "never made"},
		"projects what it has not": {func(m *model) { m.manifest.Schemes[0].Name = "notes" }, "manifest", Failed, `projections names "note", which is no scheme of the plugin`},
		"projects twice":           {func(m *model) { m.manifest.Projections = []string{"note", "note"} }, "manifest", Failed, `projections names "note" twice`},
		"projects what none sees":  {func(m *model) { m.manifest.Schemes[0].ModelVisible = false }, "manifest", Failed, "which is not model_visible"},
		"projects ungranted":       {func(m *model) { m.manifest.Grants = nil }, "manifest", Failed, `projections names [note], and the grant "entries" is not asked for`},
		"shows what it likes": {func(m *model) {
			var shown atomic.Int32
			m.project = func(*pb.ProjectRequest) *pb.ProjectResponse {
				return &pb.ProjectResponse{Text: fmt.Sprint(shown.Add(1))}
			}
		}, "projections", Failed, "two projections of the same entry of note:// at the level visible differ"},
		"shows in its own time": {func(m *model) {
			m.project = func(*pb.ProjectRequest) *pb.ProjectResponse { <-m.over; return nil }
		}, "projections", Failed, "was not over within 2s"},
		"shows nothing": {func(m *model) {
			m.project = func(*pb.ProjectRequest) *pb.ProjectResponse {
				return &pb.ProjectResponse{Failure: &pb.Failure{Outcome: "internal", Message: "out of order"}}
			}
		}, "projections", Warned, "cannot be shown at the level visible: out of order"},
		"shows and fails": {func(m *model) {
			m.project = func(*pb.ProjectRequest) *pb.ProjectResponse {
				return &pb.ProjectResponse{Text: "x", Failure: &pb.Failure{Outcome: "internal", Message: "no"}}
			}
		}, "projections", Failed, "has a failure and a text"},
		"no end":                {func(m *model) { m.invoke = ends() }, "tool count", Failed, "without a result"},
		"two results":           {func(m *model) { m.invoke = ends(done(), done()) }, "tool count", Failed, "behind the last one"},
		"success with an error": {func(m *model) { m.invoke = ends(wrong(&pb.ToolResult{Success: true, Error: "e"})) }, "tool count", Failed, "carries the error"},
		"metadata no JSON":      {func(m *model) { m.invoke = ends(wrong(&pb.ToolResult{MetadataJson: []byte("{")})) }, "tool count", Failed, "metadata"},
		"ignores the deadline":  {func(m *model) { m.invoke = late20 }, "tool count", Failed, "after its deadline"},
		"forgets members": {func(m *model) {
			m.manifest.Subscriptions[0].Name = "entry.recording"
			m.filter = func() *pb.FilterResponse { return &pb.FilterResponse{ValueJson: []byte(`{"tool":"x"}`)} }
		}, "hook entry.recording", Failed, "lost what it does not know"},
		"a guard that hangs": {func(m *model) {
			m.manifest.Subscriptions[0].Name = "entry.recording"
			m.filter = func() *pb.FilterResponse { <-m.over; return nil }
		}, "hook entry.recording", Failed, "it did not answer within 5s: what was asked is denied"},
		"a guard that panics": {func(m *model) {
			m.manifest.Subscriptions[0].Name = "entry.recording"
			m.filter = func() *pb.FilterResponse {
				return &pb.FilterResponse{Failure: &pb.Failure{Outcome: "internal", Message: "the subscriber of entry.recording panicked: nil map"}}
			}
		}, "hook entry.recording", Failed, "panicked: nil map: what was asked is denied"},
		"a guard that fails": {func(m *model) {
			m.manifest.Subscriptions[0].Name = "entry.recording"
			m.filter = func() *pb.FilterResponse {
				return &pb.FilterResponse{Failure: &pb.Failure{Outcome: "internal", Message: "no such column"}}
			}
		}, "hook entry.recording", Warned, "it failed (internal: no such column): what was asked is denied"},
		"a filter of another type": {func(m *model) {
			m.manifest.Subscriptions[0].Name = "llm.response"
			m.filter = func() *pb.FilterResponse {
				return &pb.FilterResponse{ValueJson: []byte(`{"text":["a"],"x_later":` + laterValue + `}`)}
			}
		}, "hook llm.response", Failed, "is no sdk.Completion"},
		"an event that fails": {func(m *model) {
			m.event = func() *pb.Failure { return &pb.Failure{Outcome: "internal", Message: "no"} }
		}, "hook run.reset", Warned, "it failed (internal: no): that stands in the log"},
		"a status in place of a failure": {func(m *model) {
			m.invoke = func(*pb.InvokeRequest, grpc.ServerStreamingServer[pb.InvokeResponse]) error {
				return status.Error(codes.Unknown, "Exception calling application: 'a'")
			}
		}, "tool count", Failed, "the gRPC status Unknown in the place of an answer: catch what goes wrong, and answer with a Failure"},
		"an end before its time": {func(m *model) {
			m.invoke = func(*pb.InvokeRequest, grpc.ServerStreamingServer[pb.InvokeResponse]) error {
				return status.Error(codes.DeadlineExceeded, "Deadline Exceeded")
			}
		}, "tool count", Failed, "must end with the call's deadline and with its cancellation"},
		"subscribes twice": {func(m *model) {
			m.manifest.Subscriptions = append(m.manifest.Subscriptions, m.manifest.Subscriptions[0])
		}, "manifest", Failed, "subscribed to twice"},
		"goes on after drain": {func(m *model) { m.deaf = true }, "drain", Failed, "want the code Unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := well()
			c.defect(m)
			found := tryAll(t, m)
			f := found[c.check]
			if f.Severity != c.severity || !strings.Contains(f.Text, c.says) {
				t.Errorf("%s: %+v", c.check, f)
			}
			delete(found, c.check)
			if len(found) > 0 && name != "kind not served" { // whose other checks fail as well
				t.Errorf("beside it: %+v", found)
			}
		})
	}
}

// ends sends the pieces and ends the stream.
func ends(pieces ...*pb.InvokeResponse) func(*pb.InvokeRequest, grpc.ServerStreamingServer[pb.InvokeResponse]) error {
	return func(_ *pb.InvokeRequest, s grpc.ServerStreamingServer[pb.InvokeResponse]) error {
		for _, p := range pieces {
			if err := s.Send(p); err != nil {
				return err
			}
		}
		return nil
	}
}

func wrong(r *pb.ToolResult) *pb.InvokeResponse {
	return &pb.InvokeResponse{Piece: &pb.InvokeResponse_Result{Result: r}}
}

// late20 ends a call with a near deadline long after it.
func late20(r *pb.InvokeRequest, s grpc.ServerStreamingServer[pb.InvokeResponse]) error {
	if until := time.Until(time.UnixMilli(r.GetDeadlineUnixMs())); until < time.Second {
		select {
		case <-time.After(until + grace + 200*time.Millisecond):
		case <-s.Context().Done():
		}
	}
	return s.Send(done())
}

// TestPayloads: there is a value of every name that a daemon of this version sends, and
// the typed functions of package hook take it.
func TestPayloads(t *testing.T) {
	for _, p := range sdk.Hooks() {
		values, err := payloads(Subject{Project: "/p", RunDir: "/r"}, p.Name)
		if err != nil {
			t.Error(err)
		}
		for _, v := range values {
			d := json.NewDecoder(strings.NewReader(string(v)))
			d.DisallowUnknownFields()
			if err := d.Decode(reflect.New(p.Payload).Interface()); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
		}
	}
	var asked []string
	guard := hook.Set{hook.BeforeCall(func(_ context.Context, c hook.Call) (hook.Call, error) {
		asked = append(asked, c.Tool)
		return c, nil
	})}
	values, err := payloads(Subject{}, "entry.recording")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if out, err := guard.Filter(t.Context(), "entry.recording", v); err != nil || !bytes.Equal(out, v) {
			t.Errorf("%s: %v", out, err)
		}
	}
	if want := []string{"read_file", "write_file", "delete_path", "bash"}; !slices.Equal(asked, want) {
		t.Errorf("the guard was asked about %v, want %v", asked, want)
	}
}

// TestGrease: the same seed greases the same requests, and what it adds is
// skipped by who reads the message.
func TestGrease(t *testing.T) {
	for seed := range uint64(50) {
		a, b := NewGrease(nil, seed), NewGrease(nil, seed)
		for n := range 20 {
			for range n % 3 { // another method, called as often as time allows
				b.grease("/cancel", &pb.CancelRequest{})
			}
			r := &pb.FilterRequest{Name: "n", ValueJson: []byte(`{"tool":"bash"}`)}
			x, y := a.grease("/filter", r).(*pb.FilterRequest), b.grease("/filter", r).(*pb.FilterRequest)
			if x.String() != y.String() || string(x.GetValueJson()) != string(y.GetValueJson()) {
				t.Fatalf("seed %d: %v, %v", seed, x, y)
			}
			var v sdk.Recording
			if err := json.Unmarshal(x.GetValueJson(), &v); err != nil || v.Tool != "bash" || x.GetName() != "n" {
				t.Fatalf("%s: %v", x.GetValueJson(), err)
			}
			if string(r.GetValueJson()) != `{"tool":"bash"}` {
				t.Fatal("the caller's message was changed")
			}
		}
	}
	for in, want := range map[string]string{`{}`: `{"x":{"of":["a","later","version"]}}`, ` [1]`: ` [1]`, `{`: `{`, ``: ``} {
		if got := string(withMember([]byte(in), "x", ofLater)); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// TestArguments: what is made up satisfies the schema.
func TestArguments(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object"}`: `{}`,
		`{"type":"object","required":["a","b"],"properties":{"a":{"type":"string","minLength":3},"b":{"type":"integer","minimum":7}}}`:                                                 `{"a":"...","b":7}`,
		`{"type":"object","required":["e","c"],"properties":{"e":{"enum":["x","y"]},"c":{"const":4}}}`:                                                                                 `{"c":4,"e":"x"}`,
		`{"type":"object","required":["l"],"properties":{"l":{"type":"array","minItems":2,"items":{"type":"boolean"}}}}`:                                                               `{"l":[false,false]}`,
		`{"type":"object","required":["r"],"properties":{"r":{"$ref":"#/$defs/t"}},"$defs":{"t":{"type":"object","required":["n"],"properties":{"n":{"type":"number","maximum":0}}}}}`: `{"r":{"n":0}}`,
	} {
		got, err := Arguments(sdk.ToolSpec{Name: "t", Parameters: json.RawMessage(schema)})
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", schema, got, err)
		}
	}
	if _, err := Arguments(sdk.ToolSpec{Name: "t", Parameters: json.RawMessage(`{"type":"object","required":["p"],"properties":{"p":{"type":"string","pattern":"^[0-9]+$"}}}`)}); severity(err) != Skipped {
		t.Errorf("what cannot be made up: %v", err)
	}
}
