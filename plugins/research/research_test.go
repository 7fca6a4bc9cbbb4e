package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/sdktest"
	"github.com/bothyd/bothy/sdk/skill"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type handler = func(context.Context, json.RawMessage) (sdk.ToolResult, error)

// project is the tools of a daemon over files in memory, with the answers that
// the plugin files gives.
func project(files map[string]string) map[string]handler {
	names := func() (out []string) {
		for n := range files {
			out = append(out, n)
		}
		slices.Sort(out)
		return out
	}
	return map[string]handler{
		"find_files": func(_ context.Context, raw json.RawMessage) (sdk.ToolResult, error) {
			var a struct{ Pattern, Path string }
			paths := []string{}
			if err := json.Unmarshal(raw, &a); err != nil {
				return sdk.ToolResult{}, err
			}
			for _, n := range names() {
				if a.Path != "" && strings.HasPrefix(n, a.Path+"/") {
					paths = append(paths, n)
				} else if ok, _ := path.Match(a.Pattern, n); ok && a.Path == "" {
					paths = append(paths, n)
				}
			}
			if a.Path != "" && len(paths) == 0 {
				return sdk.ToolResult{Error: "no folder", Outcome: sdk.NotFound}, nil
			}
			return structured(map[string]any{"paths": paths})
		},
		"grep": func(_ context.Context, raw json.RawMessage) (sdk.ToolResult, error) {
			var a struct{ Pattern string }
			if err := json.Unmarshal(raw, &a); err != nil {
				return sdk.ToolResult{}, err
			}
			found := []match{}
			for _, n := range names() {
				for line := range strings.Lines(files[n]) {
					if regexp.MustCompile("(?i)" + a.Pattern).MatchString(line) {
						found = append(found, match{Path: n, Text: line})
					}
				}
			}
			return structured(map[string]any{"matches": found})
		},
		"read_file": func(_ context.Context, raw json.RawMessage) (sdk.ToolResult, error) {
			var a struct {
				Path  string
				Start int `json:"start_line"`
				End   int `json:"end_line"`
			}
			if err := json.Unmarshal(raw, &a); err != nil {
				return sdk.ToolResult{}, err
			}
			text, ok := files[a.Path]
			if !ok {
				return sdk.ToolResult{Error: a.Path + " does not exist", Outcome: sdk.NotFound}, nil
			}
			if strings.HasPrefix(text, "\x00") {
				return structured(map[string]any{"binary": true})
			}
			lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
			if a.Start > len(lines) {
				return sdk.ToolResult{Error: "behind the end", Outcome: sdk.Validation}, nil
			}
			end := min(a.End, len(lines))
			r, err := structured(map[string]any{"end_line": end, "more": end < len(lines)})
			r.Output = strings.Join(lines[a.Start-1:end], "")
			return r, err
		},
	}
}

func structured(v any) (sdk.ToolResult, error) {
	b, err := json.Marshal(v)
	return sdk.ToolResult{Success: true, Structured: b, Output: string(b)}, err
}

var usual = limits{MaxFiles: 12, MaxCalls: 24, PartBytes: 16000}

// run executes the skill against a daemon in memory.
func run(t testing.TB, d *sdktest.Daemon, l limits, input string) (sdk.ToolResult, found, []string) {
	t.Helper()
	var rec sdktest.Recorder
	r := &research{limits: l}
	res, err := r.execute(host.With(context.Background(), d), skill.Call{SkillCall: sdk.SkillCall{Skill: "research", Input: input}, Stream: &rec})
	if err != nil {
		t.Fatal(err)
	}
	var f found
	if err := json.Unmarshal(res.Structured, &f); err != nil {
		t.Fatal(err)
	}
	return res, f, rec.Messages()
}

// noting is a model that notes the first line of a part, and then answers with
// all it was told.
func noting(_ context.Context, req sdk.Request) (string, error) {
	if text := req.Messages[1].Text; strings.Contains(text, "\n\nFile ") {
		_, rest, _ := strings.Cut(text, "\n\nFile ")
		return "note of " + strings.SplitN(rest, "\n", 2)[0], nil
	}
	return "ANSWER " + req.Messages[1].Text, nil
}

func TestContract(t *testing.T) {
	r := &research{limits: usual}
	d := &sdktest.Daemon{Tools: project(map[string]string{"a.md": "All about kettles.\n"}), Answer: noting}
	sdktest.Skill(t, skill.Set{skill.New("research", r.execute)}, d,
		sdktest.Execution{SkillCall: sdk.SkillCall{Skill: "research", Input: "How do kettles work?"}},
		sdktest.Execution{SkillCall: sdk.SkillCall{Skill: "research", Input: "What?\nin: *.md"}},
	)
	d.Answer = func(ctx context.Context, _ sdk.Request) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	sdktest.Skill(t, skill.Set{skill.New("research", r.execute)}, d,
		sdktest.Execution{SkillCall: sdk.SkillCall{Skill: "research", Input: "kettles"}, Blocks: true})
}

// TestResearch: what the question has to do with is found, read in parts and
// named in the result.
func TestResearch(t *testing.T) {
	files := map[string]string{
		"kettle.md": strings.Repeat("The kettle boils water.\n", 900),
		"tea.md":    "Tea needs a kettle and boiling water.\n",
		"other.md":  "Nothing of the kind.\n",
		"pic.png":   "\x00kettle",
	}
	d := &sdktest.Daemon{Tools: project(files), Answer: noting}
	res, f, progress := run(t, d, usual, "How does the kettle boil water?")
	if !res.Success || !strings.Contains(res.Output, "ANSWER") {
		t.Fatalf("%+v", res)
	}
	want := []source{{"kettle.md", 900, false}, {"tea.md", 1, false}}
	if !slices.Equal(f.Files, want) {
		t.Errorf("files %+v, want %+v", f.Files, want)
	}
	if len(f.Skipped) != 1 || f.Skipped[0].Path != "pic.png" || f.Skipped[0].Reason != "it is binary" {
		t.Errorf("skipped %+v", f.Skipped)
	}
	if f.Calls != len(d.Asked()) || f.Calls != 5 { // 900 lines are three parts
		t.Errorf("%d calls, %d were made", f.Calls, len(d.Asked()))
	}
	for _, s := range []string{"Based on:\n- kettle.md\n- tea.md\n", "Not read:\n- pic.png: it is binary"} {
		if !strings.Contains(res.Output, s) {
			t.Errorf("the result does not say %q:\n%s", s, res.Output)
		}
	}
	for _, s := range []string{"looking for files", "reading 1 of 3: kettle.md", "reading 2 of 3: tea.md", "answering from 2 files"} {
		if !slices.Contains(progress, s) {
			t.Errorf("nobody was told %q: %q", s, progress)
		}
	}
	for _, req := range d.Asked() {
		if req.Model != "" || len(req.Tools) != 0 {
			t.Errorf("it asked %q with %d tools, and should ask the run's own", req.Model, len(req.Tools))
		}
	}
}

func TestPlaces(t *testing.T) {
	files := map[string]string{"a.md": "a", "docs/b.md": "b", "docs/c.md": "c", "d.txt": "d"}
	for input, want := range map[string]string{
		"q\nin: a.md":                 "a.md",
		"q\nIn: docs":                 "docs/b.md docs/c.md",
		"q\nin: docs/, d.txt docs/*":  "docs/b.md docs/c.md d.txt",
		"q\nin: *.md\nin: *.txt\nand": "a.md d.txt",
		"q\nin: a.md none.md":         "a.md",
	} {
		_, f, _ := run(t, &sdktest.Daemon{Tools: project(files), Answer: noting}, usual, input)
		var got []string
		for _, s := range f.Files {
			got = append(got, s.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q read %q, want %q", input, got, want)
		}
	}
	if q, where := parse("in: a\nin the end: why?\n"); q != "in the end: why?" || !slices.Equal(where, []string{"a"}) {
		t.Errorf("%q %q", q, where)
	}
}

// TestResearchFails: every failure is a result that says what happened, and
// keeps the notes.
func TestResearchFails(t *testing.T) {
	kettles := map[string]string{"a.md": "kettle\n", "b.md": "kettle\n"}
	refused := func(context.Context, json.RawMessage) (sdk.ToolResult, error) {
		return sdk.ToolResult{}, sdk.Errorf(sdk.Permission, "not granted")
	}
	with := func(name string, h handler) map[string]handler {
		tools := project(kettles)
		tools[name] = h
		return tools
	}
	secondFails := func(err error) func(context.Context, sdk.Request) (string, error) {
		return func(ctx context.Context, req sdk.Request) (string, error) {
			if strings.Contains(req.Messages[1].Text, "File b.md") {
				return "", err
			}
			return noting(ctx, req)
		}
	}
	down := &sdk.ProviderError{Class: sdk.ClassGateway, Message: "connection refused"}
	for name, c := range map[string]struct {
		d       *sdktest.Daemon
		input   string
		outcome sdk.Outcome // empty: it succeeds all the same
		says    []string
	}{
		"no model":      {&sdktest.Daemon{Tools: project(kettles)}, "kettle", sdk.Permission, []string{"file 1 of 2, a.md", `"models"`}},
		"no tools":      {&sdktest.Daemon{Answer: noting, Tools: with("grep", refused)}, "kettle", sdk.Permission, []string{"looked for", "not granted"}},
		"no places":     {&sdktest.Daemon{Answer: noting, Tools: with("find_files", refused)}, "k\nin: a.md", sdk.Permission, []string{"looked for", "not granted"}},
		"no reading":    {&sdktest.Daemon{Answer: noting, Tools: with("read_file", refused)}, "kettle", sdk.Permission, []string{"none of the files", "not granted", "a.md", "b.md"}},
		"no files":      {&sdktest.Daemon{Answer: noting, Tools: project(kettles)}, "teapots?", sdk.NotFound, []string{"in: README.md"}},
		"no such file":  {&sdktest.Daemon{Answer: noting, Tools: project(kettles)}, "k\nin: c.md", sdk.NotFound, []string{"c.md does not exist"}},
		"no question":   {&sdktest.Daemon{Answer: noting, Tools: project(kettles)}, "why?", sdk.NotFound, []string{"in: README.md"}},
		"model is gone": {&sdktest.Daemon{Answer: secondFails(down), Tools: project(kettles)}, "kettle", sdk.Unavailable, []string{"file 2 of 2, b.md", "connection refused", "note of a.md"}},
		"too long": {&sdktest.Daemon{Answer: secondFails(&sdk.ProviderError{Class: sdk.ClassOverflow, Message: "too long"}), Tools: project(kettles)},
			"kettle", "", []string{"Based on:\n- a.md", "b.md: the part from line 1 is too long", "part_bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			res, f, _ := run(t, c.d, usual, c.input)
			if res.Success != (c.outcome == "") || res.Outcome != c.outcome {
				t.Errorf("%+v", res)
			}
			for _, s := range c.says {
				if !strings.Contains(res.Output, s) {
					t.Errorf("it does not say %q:\n%s", s, res.Output)
				}
			}
			if f.Calls != len(c.d.Asked()) {
				t.Errorf("it says %d calls and made %d", f.Calls, len(c.d.Asked()))
			}
		})
	}
	r := &research{limits: usual}
	_, err := r.execute(context.Background(), skill.Call{SkillCall: sdk.SkillCall{Input: " \nin: a.md"}, Stream: &sdktest.Recorder{}})
	if sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("without a question: %v", err)
	}
}

// TestBounds: whatever the files are and whatever fails, the model is never
// asked more often, nor shown more at a time, than the block says.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := limits{
			MaxFiles: rapid.IntRange(1, 8).Draw(t, "files"), MaxCalls: rapid.IntRange(2, 12).Draw(t, "calls"),
			PartBytes: rapid.IntRange(1000, 4000).Draw(t, "bytes"),
		}
		files := map[string]string{}
		for n := range rapid.IntRange(0, 12).Draw(t, "count") {
			line := "kettle" + strings.Repeat(rapid.SampledFrom([]string{"x", "é", " "}).Draw(t, "of"), rapid.IntRange(0, 3000).Draw(t, "width")) + "\n"
			files[fmt.Sprintf("f%02d", n)] = strings.Repeat(line, rapid.IntRange(1, 30).Draw(t, "lines"))
		}
		fails := rapid.SliceOfN(rapid.IntRange(0, 9), 20, 20).Draw(t, "fails")
		n := 0
		d := &sdktest.Daemon{Tools: project(files), Answer: func(context.Context, sdk.Request) (string, error) {
			n++
			switch fails[n%len(fails)] {
			case 0:
				return "", errors.New("down")
			case 1:
				return "", &sdk.ProviderError{Class: sdk.ClassOverflow, Message: "too long"}
			case 2:
				return nothing, nil
			}
			return strings.Repeat("é", 5000), nil
		}}
		input := rapid.SampledFrom([]string{"kettle", "kettle\nin: *", "kettle\nin: f00 f01 f02"}).Draw(t, "input")
		var rec sdktest.Recorder
		r := &research{limits: l}
		res, err := r.execute(host.With(context.Background(), d), skill.Call{SkillCall: sdk.SkillCall{Input: input}, Stream: &rec})
		if err != nil {
			t.Fatal(err)
		}
		asked := d.Asked()
		if len(asked) > l.MaxCalls {
			t.Fatalf("the model was asked %d times, and may be asked %d", len(asked), l.MaxCalls)
		}
		for _, req := range asked {
			if size := len(req.Messages[1].Text); size > 2*l.PartBytes+20*400 {
				t.Fatalf("a request of %d bytes with parts of %d", size, l.PartBytes)
			}
		}
		read := map[string]bool{}
		var f found
		if err := json.Unmarshal(res.Structured, &f); err != nil {
			t.Fatal(err)
		}
		for _, s := range f.Files {
			if read[s.Path] || files[s.Path] == "" {
				t.Fatalf("files %+v", f.Files)
			}
			read[s.Path] = true
		}
		if len(f.Files) > l.MaxFiles || res.Success == (res.Error != "") || f.Calls != len(asked) {
			t.Fatalf("%+v", res)
		}
	})
}

// FuzzParse: any input is a question with places, and neither holds a line that
// belongs to the other.
func FuzzParse(f *testing.F) {
	f.Add("a\nin: b c\n")
	f.Add("IN:\x00, ,\r\nin:")
	f.Fuzz(func(t *testing.T, input string) {
		question, where := parse(input)
		for line := range strings.Lines(question) {
			if strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), places) {
				t.Errorf("%q is left in the question", line)
			}
		}
		if slices.Contains(where, "") || len(terms(question)) > mostTerms {
			t.Errorf("places %q, terms %q", where, terms(question))
		}
	})
}
