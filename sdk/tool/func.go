package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Call is what a tool function is given beside its arguments: the context of
// the call and where its output streams.
type Call struct {
	sdk.Invocation
	Stream
}

// Func is one tool made of a function. Set serves several.
type Func struct {
	spec    sdk.ToolSpec // without the parameters of an inferred schema
	schema  func() json.RawMessage
	err     error
	invoke  func(ctx context.Context, call Call) (sdk.ToolResult, error)
	settle  func(ctx context.Context, call sdk.Invocation) (sdk.ToolResult, error)
	stage   func(ctx context.Context, call sdk.Invocation) (sdk.Staged, error)
	prepare func(ctx context.Context, at sdk.Place) (sdk.Prepared, error)
}

// New makes a tool of a typed function. Its JSON Schema is inferred from In, a
// struct: fields are named by their json tags and described by jsonschema
// tags; those with omitempty, omitzero or a default may be left out; anything
// undeclared is refused. A mistake in In is reported by Set.Err, before the plugin
// serves. Further tags say what else a value must be:
//
//	Level string   `json:"level" enum:"low,high" default:"low" jsonschema:"how loud"`
//	Count int      `json:"count" minimum:"1" maximum:"50" default:"10"`
//	Since string   `json:"since,omitempty" format:"date" example:"2024-02-29"`
//	Tags  []string `json:"tags" enum:"red,green,blue" default:"red,blue"`
//
// A field whose argument was left out has its default. On a list, default and
// example are of the list, the others of its elements.
func New[In any](name, description string, a sdk.Annotations, fn func(ctx context.Context, in In, call Call) (sdk.ToolResult, error)) Func {
	f := Func{spec: sdk.ToolSpec{Name: name, Description: description, Annotations: a}}
	var defaults []filling
	f.schema, defaults, f.err = schemaFor[In]()
	f.invoke = func(ctx context.Context, call Call) (sdk.ToolResult, error) {
		var in In
		err := fill(reflect.ValueOf(&in).Elem(), defaults)
		if err == nil {
			err = decode(call.Arguments, &in)
		}
		if err != nil {
			return sdk.ToolResult{}, sdk.Errorf(sdk.Validation, "the arguments of %s: %w", name, err)
		}
		return fn(ctx, in, call)
	}
	return f
}

type callKey struct{}

// CallOf is the call that the function of a [Plain] or [Typed] tool serves: its run, its
// project, its deadline. Its zero value is that ctx belongs to none.
func CallOf(ctx context.Context) sdk.Invocation {
	if call, is := ctx.Value(callKey{}).(*sdk.Invocation); is {
		return *call
	}
	return sdk.Invocation{}
}

// Plain makes a tool of a function that answers with text: New for those who
// need neither a stream nor a structured result; [CallOf] has the call. An error is
// what the model reads instead of the text; an *sdk.Error keeps its outcome.
//
// It declares no annotations, so that policy takes it for one with side effects
// and a person is asked before it runs; see [Func.Annotated].
func Plain[In any](name, description string, fn func(ctx context.Context, in In) (string, error)) Func {
	return New(name, description, sdk.Annotations{}, func(ctx context.Context, in In, call Call) (sdk.ToolResult, error) {
		text, err := fn(context.WithValue(ctx, callKey{}, &call.Invocation), in)
		return Text(text), err
	}).Whole()
}

// Typed makes a tool of a function that answers with a value: its JSON is the
// structured result, which front ends read, and other plugins with host.UseAs. What the
// model reads is the value's String, or else the same JSON. It is otherwise as [Plain].
func Typed[In, Out any](name, description string, fn func(ctx context.Context, in In) (Out, error)) Func {
	return New(name, description, sdk.Annotations{}, func(ctx context.Context, in In, call Call) (sdk.ToolResult, error) {
		out, err := fn(context.WithValue(ctx, callKey{}, &call.Invocation), in)
		if err != nil {
			return sdk.ToolResult{}, err
		}
		structured, err := json.Marshal(out)
		if err != nil {
			return sdk.ToolResult{}, fmt.Errorf("encode the result of %s: %w", name, err)
		}
		result := Text(string(structured))
		if s, is := any(out).(fmt.Stringer); is {
			result.Output = s.String()
		}
		result.Structured = structured
		return result, nil
	}).Whole()
}

// Annotated is the tool with other annotations. They are promises: what is said
// to be read-only runs without a question and again after a crash.
func (f Func) Annotated(a sdk.Annotations) Func {
	f.spec.Annotations = a
	return f
}

// Raw makes a tool whose schema is not known to Go. The function finds the
// arguments in call.Arguments.
func Raw(spec sdk.ToolSpec, fn func(ctx context.Context, call Call) (sdk.ToolResult, error)) Func {
	return Func{spec: spec, invoke: fn}
}

// Settled is the tool with a way to say what a call came to that an earlier
// process had begun; see [Settler].
func (f Func) Settled(fn func(ctx context.Context, call sdk.Invocation) (sdk.ToolResult, error)) Func {
	f.settle = fn
	return f
}

// StagedBy is the tool with a way to say what a call would change in files,
// without doing it; see [Stager]. The tool then heeds call.Base.
func (f Func) StagedBy(fn func(ctx context.Context, call sdk.Invocation) (sdk.Staged, error)) Func {
	f.stage, f.spec.Staged = fn, true
	return f
}

// PreparedBy is the tool with a way to make ready what its calls in a run need;
// see [Preparer].
func (f Func) PreparedBy(fn func(ctx context.Context, at sdk.Place) (sdk.Prepared, error)) Func {
	f.prepare, f.spec.Prepares = fn, true
	return f
}

// Whole declares that the tool sends nothing before its result: no chunks, no
// progress. Its calls cost less; what it sends nevertheless is refused.
func (f Func) Whole() Func {
	f.spec.Whole = true
	return f
}

// Keeps declares that the tool changes entries of the plugin's own schemes and nothing else
// ([sdk.ToolSpec.Keeps]).
func (f Func) Keeps() Func {
	f.spec.Keeps = true
	return f
}

// Unlisted keeps the tool from being offered and called by anybody: the results of
// the plugin's other tools name it ([sdk.ToolResult.Follow]).
func (f Func) Unlisted() Func {
	f.spec.Unlisted = true
	return f
}

// Commands names the argument that is a command line: policy reads what would
// run, and people are shown it. Not naming it means that policy can say nothing
// about the commands.
func (f Func) Commands(argument string) Func {
	f.spec.Command = argument
	return f
}

// Addresses names the argument that is the URL which a call asks: policy judges the call by where
// it goes, and people are shown that. Policy refuses a call without one, so require it.
func (f Func) Addresses(argument string) Func {
	f.spec.Address = argument
	return f
}

// Body names the argument that the body of a tag fills, where models write calls as tags: the one that is a text as it
// stands, such as what a file shall have. A tool that requires one text, and only one, need not name it.
func (f Func) Body(argument string) Func {
	f.spec.Body = argument
	return f
}

// Spec is what the tool declares.
func (f Func) Spec() sdk.ToolSpec {
	if f.schema != nil {
		f.spec.Parameters = f.schema()
	}
	return f.spec
}

// Text is the result of a call that went well.
func Text(output string) sdk.ToolResult { return sdk.ToolResult{Success: true, Output: output} }

func decode(arguments json.RawMessage, into any) error {
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = []byte("{}")
	}
	return sdk.ReadJSON(arguments, into)
}

// Set is a Tool made of functions.
type Set []Func

// Err reports the mistakes of the author, all at once.
func (s Set) Err() error {
	var errs []error
	seen := map[string]bool{}
	for _, f := range s {
		if f.err != nil {
			errs = append(errs, fmt.Errorf("tool %s: %w", f.spec.Name, f.err))
		}
		if !ValidName(f.spec.Name) {
			errs = append(errs, fmt.Errorf("tool name %q: a name is [a-z][a-z0-9_]{0,63}", f.spec.Name))
		}
		if seen[f.spec.Name] {
			errs = append(errs, fmt.Errorf("tool %s is declared twice", f.spec.Name))
		}
		seen[f.spec.Name] = true
	}
	return errors.Join(errs...)
}

// ValidName reports whether name may be a tool's name.
func ValidName(name string) bool {
	if name == "" || len(name) > 64 || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Tools implements Tool.
func (s Set) Tools() []sdk.ToolSpec {
	specs := make([]sdk.ToolSpec, 0, len(s))
	for _, f := range s {
		specs = append(specs, f.Spec())
	}
	return specs
}

// Invoke implements Tool.
func (s Set) Invoke(ctx context.Context, call sdk.Invocation, out Stream) (sdk.ToolResult, error) {
	f, err := s.named(call.Tool)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	return f.invoke(ctx, Call{Invocation: call, Stream: out})
}

func (s Set) named(name string) (*Func, error) {
	for i := range s {
		if s[i].spec.Name == name {
			return &s[i], nil
		}
	}
	return nil, sdk.Errorf(sdk.NotFound, "the plugin has no tool %s", name)
}

// Settle implements Settler. A tool that keeps nothing answers interrupted.
func (s Set) Settle(ctx context.Context, call sdk.Invocation) (sdk.ToolResult, error) {
	f, err := s.named(call.Tool)
	if err == nil && f.settle == nil {
		err = unsettled(call.Tool)
	}
	if err != nil {
		return sdk.ToolResult{}, err
	}
	return f.settle(ctx, call)
}

// Stage implements Stager. A tool that cannot say answers unavailable.
func (s Set) Stage(ctx context.Context, call sdk.Invocation) (sdk.Staged, error) {
	f, err := s.named(call.Tool)
	if err == nil && f.stage == nil {
		err = unstaged(call.Tool)
	}
	if err != nil {
		return sdk.Staged{}, err
	}
	return f.stage(ctx, call)
}

// Prepare implements Preparer. A tool that prepares nothing answers unavailable.
func (s Set) Prepare(ctx context.Context, at sdk.Place) (sdk.Prepared, error) {
	f, err := s.named(at.Tool)
	if err == nil && f.prepare == nil {
		err = unprepared(at.Tool)
	}
	if err != nil {
		return sdk.Prepared{}, err
	}
	return f.prepare(ctx, at)
}

func unprepared(name string) error {
	return sdk.Errorf(sdk.Unavailable, "the tool %s makes nothing ready beforehand", name)
}

func unstaged(name string) error {
	return sdk.Errorf(sdk.Unavailable, "the tool %s cannot say beforehand what it would change", name)
}

func unsettled(name string) error {
	return sdk.Errorf(sdk.Interrupted, "the tool %s does not know what a call came to that was cut short", name)
}

var (
	_ Tool     = Set(nil)
	_ Settler  = Set(nil)
	_ Stager   = Set(nil)
	_ Preparer = Set(nil)
)
