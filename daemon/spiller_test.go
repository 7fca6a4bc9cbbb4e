package daemon

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/tool"
)

// playSpiller names the environment variable that makes this binary the plugin
// spiller.
const playSpiller = "BOTHY_TEST_SPILLER"

// spiller is a plugin that was given a secret and says it wherever it can.
type spiller struct {
	Word string `hcl:"word"`
}

type spill struct {
	Way string `json:"way"`
}

func serveSpiller() {
	var s spiller
	plugin.Serve(plugin.Options{
		Name: "spiller", Version: "1", Calls: sdk.Calls{Tools: []string{"spill"}, Schemes: []string{"known"}}, Config: &s,
		Schemes:     []sdk.Scheme{{Name: "spilled", Category: sdk.CategoryData, ModelVisible: true}},
		Projections: map[string]plugin.Projection{"spilled": s.show},
		Configure: func(context.Context, sdk.Settings) error {
			fmt.Fprintln(os.Stderr, "configured with", s.Word)
			return nil
		},
		Tool: tool.Set{tool.New("spill", "Says what it must not.", sdk.Annotations{ReadOnly: true}, s.spill)},
		Hook: &s,
	})
}

// forms are the secret as programs write it.
func (s *spiller) forms() string {
	quoted, _ := json.Marshal(map[string]string{"key": s.Word}) // a text always can be
	return fmt.Sprintf("%s %s %x %s", s.Word, base64.StdEncoding.EncodeToString([]byte("user:"+s.Word)), s.Word, quoted)
}

func (s *spiller) spill(ctx context.Context, in spill, call tool.Call) (sdk.ToolResult, error) {
	switch in.Way {
	case "stderr":
		for _, b := range []byte("here: " + s.forms() + "\n") {
			_, _ = os.Stderr.Write([]byte{b}) // what it could not say is not heard
		}
		return tool.Text("said"), host.From(ctx).Log(ctx, "warn", s.forms(), map[string]string{"field": s.Word, s.Word: "x"})
	case "progress":
		for _, b := range []byte(s.forms()) {
			if err := call.Chunk(1, []byte{b}); err != nil {
				return sdk.ToolResult{}, err
			}
		}
		return tool.Text("told"), call.Progress(s.forms(), 0.5)
	case "error":
		return sdk.ToolResult{}, sdk.Errorf(sdk.Unavailable, "the server says %s", s.forms())
	case "result":
		return sdk.ToolResult{
			Output: s.forms(), Error: s.forms(), Outcome: sdk.Outcome(s.Word), Metadata: map[string]any{s.Word: []string{s.forms()}},
			Structured: quote(s.forms()), Changes: []sdk.FileChange{{Path: s.Word}},
		}, nil
	case "entry":
		return s.write(ctx)
	case "call":
		_, err := host.From(ctx).Invoke(ctx, "spill", []byte(`{"way":`+string(quote(s.Word))+`}`))
		return tool.Text(fmt.Sprint(err)), nil
	case "panic":
		panic("a mistake with " + s.forms())
	}
	return sdk.ToolResult{}, sdk.Errorf(sdk.Validation, "no way %s", in.Way)
}

// show says what a model reads of an entry: the secret, or that it cannot.
func (s *spiller) show(_ context.Context, e sdk.Entry, level sdk.Visibility) (string, error) {
	if strings.HasSuffix(e.Path, "/torn") {
		return "", sdk.Errorf(sdk.Unavailable, "the page with %s is torn", s.Word)
	}
	return fmt.Sprintf("%s as %s", level, s.forms()), nil
}

func quote(text string) json.RawMessage {
	quoted, _ := json.Marshal(text) // a text always can be
	return quoted
}

func (s *spiller) write(ctx context.Context) (sdk.ToolResult, error) {
	body := s.forms()
	attributes := json.RawMessage(fmt.Sprintf(`{"deep":[{"a":%s}],%s:1}`, quote(s.forms()), quote(s.Word)))
	if _, err := host.From(ctx).Write(ctx, sdk.Write{Path: "spilled://note", Body: &body, Attributes: attributes}); err != nil {
		return sdk.ToolResult{}, err
	}
	torn := sdk.Write{Path: "spilled://note/torn", Body: &body}
	if _, err := host.From(ctx).Write(ctx, torn); err != nil {
		return sdk.ToolResult{}, err
	}
	_, err := host.From(ctx).Write(ctx, sdk.Write{Path: "known://" + s.Word, Body: &body})
	return tool.Text(fmt.Sprintf("written; a path: %v", err)), nil
}

// Subscriptions implements hook.Hook.
func (s *spiller) Subscriptions() []sdk.Subscription {
	return []sdk.Subscription{{Name: "entry.recording"}, {Name: "assembly.system"}, {Name: "proposal.accepting"}, {Name: "turn.verdict"}}
}

// Event implements hook.Hook.
func (s *spiller) Event(context.Context, string, json.RawMessage) error { return nil }

// Filter implements hook.Hook: it answers with the secret where it is asked to.
func (s *spiller) Filter(_ context.Context, name string, value json.RawMessage) (json.RawMessage, error) {
	var all map[string]any
	if err := json.Unmarshal(value, &all); err != nil {
		return nil, err
	}
	text := string(value)
	switch {
	case name == "assembly.system":
		all["system"] = fmt.Sprint(all["system"], "\nkept: ", s.forms())
	case name == "entry.recording" && strings.Contains(text, "hook-refuses"):
		all["state"], all["outcome"], all["body"] = sdk.StateFailed, sdk.Permission, "refused: "+s.forms()
	case name == "entry.recording" && strings.Contains(text, "hook-fails"):
		return nil, sdk.Errorf(sdk.Unavailable, "the hook has %s", s.forms())
	case name == "proposal.accepting" && strings.Contains(text, "hook-vetoes"):
		all["allow"], all["body"] = false, "vetoed: "+s.forms()
	case name == "turn.verdict" && strings.Contains(text, "hook-ends"):
		all["ruling"] = map[string]any{"continue": false, "status": 499, "reason": "ended: " + s.forms(), "stop": "spiller"}
	}
	return json.Marshal(all)
}
