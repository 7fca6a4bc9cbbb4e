package runentry

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func use(verb sdk.Verb, path string, body *string, attributes string) sdk.EntryCall {
	c := sdk.EntryCall{Verb: verb, Path: path, Body: body}
	if attributes != "" {
		c.Attributes = json.RawMessage(attributes)
	}
	return c
}

// TestWhatAUseStandsFor (spec runs_are_entries): each use is a call of one method, with the parameters that
// the path, the body and the attributes say.
func TestWhatAUseStandsFor(t *testing.T) {
	go_, fresh, known := "go", At{Project: "/p"}, At{Project: "/p", Known: true}
	aborts, renames := use(sdk.VerbSet, "run://a", nil, ""), use(sdk.VerbMove, "run://a", nil, "")
	aborts.State, renames.To = sdk.StateCancelled, "run://b"
	held := aborts
	held.Attributes = json.RawMessage(`{"hold":true}`)
	warm, no := 0.5, true
	for name, c := range map[string]struct {
		use    sdk.EntryCall
		at     At
		method string
		want   any
	}{
		"a new run may only read": {use(sdk.VerbSet, "run://a", &go_, `{"model":"m"}`), fresh, "ask", rpc.Prompt{Project: "/p", Run: "a", Prompt: "go", Model: "m"}},
		"and acts when told":      {use(sdk.VerbSet, "run://a", &go_, `{"mode":"act","yolo":true,"permission_mode":"full"}`), fresh, "act", rpc.Prompt{Project: "/p", Run: "a", Prompt: "go", Yolo: true, Mode: sdk.ModeFull}},
		"a made-up alias":         {use(sdk.VerbSet, "run://", &go_, ""), fresh, "ask", rpc.Prompt{Project: "/p", Prompt: "go"}},
		"as the last prompt":      {use(sdk.VerbSet, "run://a", &go_, ""), known, "act", rpc.Prompt{Project: "/p", Run: "a", Prompt: "go"}},
		"or as asked":             {use(sdk.VerbSet, "run://a", &go_, `{"mode":"ask"}`), known, "ask", rpc.Prompt{Project: "/p", Run: "a", Prompt: "go"}},
		"options":                 {use(sdk.VerbSet, "run://a", &go_, `{"temperature":0.5,"noWeb":true}`), known, "act", rpc.Prompt{Project: "/p", Run: "a", Prompt: "go", RunOptions: rpc.RunOptions{Temperature: &warm, NoWeb: &no}}},
		"configures":              {use(sdk.VerbSet, "run://a", nil, `{"model":"m","noWeb":true}`), known, "run/config", rpc.RunConfig{Run: "a", Project: "/p", Model: "m", RunOptions: rpc.RunOptions{NoWeb: &no}}},
		"starts":                  {use(sdk.VerbSet, "run://a", nil, `{"agent":"x"}`), fresh, "startRun", rpc.StartRun{Run: "a", Project: "/p", Agent: "x"}},
		"aborts":                  {aborts, known, "run/abort", rpc.Abort{Run: "a", Project: "/p"}},
		"aborts and holds":        {held, known, "run/abort", rpc.Abort{Run: "a", Project: "/p", Hold: true}},
		"renames":                 {renames, known, "run/rename", rpc.Rename{Run: "a", Project: "/p", Name: "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Of(c.use, c.at)
			if err != nil || got.Method != c.method || !reflect.DeepEqual(got.Params, c.want) {
				t.Errorf("got %s %+v, %v; want %s %+v", got.Method, got.Params, err, c.method, c.want)
			}
		})
	}
}

func TestUsesThatStandForNothing(t *testing.T) {
	go_ := "go"
	with := func(change func(*sdk.EntryCall)) sdk.EntryCall {
		c := use(sdk.VerbSet, "run://a", &go_, "")
		change(&c)
		return c
	}
	for name, c := range map[string]struct {
		use  sdk.EntryCall
		says string
	}{
		"another state":         {with(func(c *sdk.EntryCall) { c.Body, c.State = nil, sdk.StateResolved }), "cancelled and to no other"},
		"a body and a state":    {with(func(c *sdk.EntryCall) { c.State = sdk.StateCancelled }), "set one of them"},
		"append":                {with(func(c *sdk.EntryCall) { c.Append = true }), "takes no append"},
		"a visibility":          {with(func(c *sdk.EntryCall) { c.Visibility = sdk.Visible }), "takes no visibility"},
		"a pattern":             {with(func(c *sdk.EntryCall) { c.Pattern = true }), "takes no pattern"},
		"no object":             {use(sdk.VerbSet, "run://a", &go_, `[1]`), "must be a JSON object"},
		"an unknown attribute":  {use(sdk.VerbSet, "run://a", &go_, `{"modle":"m"}`), `no attribute "modle"`},
		"another case":          {use(sdk.VerbSet, "run://a", &go_, `{"Yolo":true}`), `no attribute "Yolo"`},
		"the prompt twice":      {use(sdk.VerbSet, "run://a", &go_, `{"prompt":"x"}`), `no attribute "prompt"`},
		"another project":       {use(sdk.VerbSet, "run://a", &go_, `{"project":"/q"}`), `no attribute "project"`},
		"another run":           {use(sdk.VerbSet, "run://a", nil, `{"run":"b"}`), `no attribute "run"`},
		"no mode":               {use(sdk.VerbSet, "run://a", &go_, `{"mode":"full"}`), "ask or act"},
		"a mode without a body": {use(sdk.VerbSet, "run://a", nil, `{"mode":"act"}`), "mode is of a prompt"},
		"another type":          {use(sdk.VerbSet, "run://a", &go_, `{"yolo":"yes"}`), "attributes"},
		"a long path":           {use(sdk.VerbSet, "run://"+strings.Repeat("a", 600), &go_, ""), "512 bytes"},
		"control characters":    {use(sdk.VerbSet, "run://a\nb", &go_, ""), "control characters"},
		"rm":                    {use(sdk.VerbRemove, "run://a", nil, ""), "run/delete"},
		"cp":                    {use(sdk.VerbCopy, "run://a", nil, ""), "run/fork"},
		"mv to an entry":        {sdk.EntryCall{Verb: sdk.VerbMove, Path: "run://a", To: "known://a"}, "stays one"},
		"mv of an entry":        {sdk.EntryCall{Verb: sdk.VerbMove, Path: "known://a", To: "run://a"}, "stays one"},
		"mv with a visibility":  {sdk.EntryCall{Verb: sdk.VerbMove, Path: "run://a", To: "run://b", Visibility: sdk.Visible}, "takes no visibility"},
		"update":                {use(sdk.VerbUpdate, "run://a", &go_, ""), "get reads it"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Of(c.use, At{Project: "/p", Known: true}); sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// FuzzAttributes: whatever the attributes are, they say nothing of project, run and prompt.
func FuzzAttributes(f *testing.F) {
	for _, text := range []string{`{}`, `{"mode":"act","yolo":true}`, `{"project":"/q","run":"b","prompt":"x"}`, `{"PROMPT":"x"}`, `{"attachments":[{"path":"a"}]}`, `null`, `[`, `{"persona":"\ud800"}`} {
		f.Add(text)
	}
	body := "go"
	f.Fuzz(func(t *testing.T, attributes string) {
		call, err := Of(use(sdk.VerbSet, "run://a", &body, attributes), At{Project: "/p"})
		p, is := call.Params.(rpc.Prompt)
		if err != nil {
			if o := sdk.OutcomeOf(err); o != sdk.Validation {
				t.Errorf("%v", err)
			}
			return
		}
		if !is || p.Project != "/p" || p.Run != "a" || p.Prompt != body {
			t.Errorf("%+v", call)
		}
	})
}
