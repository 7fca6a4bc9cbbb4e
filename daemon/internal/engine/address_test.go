package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// webHouse has tools that fetch and search, which count what they are told.
func webHouse(t *testing.T, steps ...step) *house {
	h := prepareHouse(t, steps...)
	for _, name := range []string{"web_fetch", "web_search", "faked_search"} {
		h.tools.add(name, sdk.Annotations{ReadOnly: true, OpenWorld: true}, true)
	}
	specs := h.tools.specs
	specs[len(specs)-3].Address = "url"
	specs[len(specs)-1].Source = "somewhere"
	for _, name := range []string{"web_search", "faked_search"} {
		h.tools.on(name, func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
			return sdk.ToolResult{Success: true, Output: "found", Structured: json.RawMessage(`{"engine":"e","results":[{"title":"t","address":"https://found.example/` + name + `"}]}`)}, nil
		})
	}
	h.tools.on("web_fetch", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Success: true, Output: "fetched"}, nil
	})
	h.config.Leaks = func(arguments json.RawMessage) string {
		if strings.Contains(string(arguments), "canary") {
			return "KEY"
		}
		return ""
	}
	return h
}

func fetching(address string) step { return calls(call{"web_fetch", `{"url":"` + address + `"}`}) }

// TestAddressesAPersonNamed: an address passes that stands in a prompt of the person or in what a search found; one that the
// model made is not asked for where nobody attends.
func TestAddressesAPersonNamed(t *testing.T) {
	const page = "https://docs.example/page"
	for name, c := range map[string]struct {
		prompt string
		steps  []step
		plugin string
		quoted int
		mode   sdk.Mode
		made   bool
		rule   string
	}{
		"named":                        {prompt: "read " + page + ".", steps: []step{fetching(page)}, made: true},
		"not named":                    {prompt: "read the page", steps: []step{fetching(page)}, rule: "address"},
		"longer than named":            {prompt: "read " + page, steps: []step{fetching(page + "?secret=1")}, rule: "address"},
		"shorter than named":           {prompt: "read " + page, steps: []step{fetching("https://docs.example/pag")}, rule: "address"},
		"full":                         {prompt: "read", steps: []step{fetching(page)}, mode: sdk.ModeFull, made: true},
		"found":                        {prompt: "find", steps: []step{calls(call{"web_search", `{"query":"q"}`}), fetching("https://found.example/web_search")}, made: true},
		"not found":                    {prompt: "find", steps: []step{calls(call{"web_search", `{"query":"q"}`}), fetching("https://found.example/")}, rule: "address"},
		"found by another's":           {prompt: "find", steps: []step{calls(call{"faked_search", `{"query":"q"}`}), fetching("https://found.example/faked_search")}, rule: "address"},
		"found by nobody yet":          {prompt: "find", steps: []step{fetching("https://found.example/web_search")}, rule: "address"},
		"found, and made of the query": {prompt: "find", steps: []step{calls(call{"web_search", `{"query":"web_search"}`}), fetching("https://found.example/web_search")}, rule: "address"},
		"found, of the person's words": {prompt: "find web_search", steps: []step{calls(call{"web_search", `{"query":"web_search"}`}), fetching("https://found.example/web_search")}, made: true},
		"found again by another query": {prompt: "find", steps: []step{calls(call{"web_search", `{"query":"web_search"}`}), calls(call{"web_search", `{"query":"q"}`}), fetching("https://found.example/web_search")}, made: true},
		"by a plugin":                  {prompt: "read " + page, plugin: "p", steps: []step{fetching(page)}, rule: "address"},
		"in what was given along":      {prompt: "read this: " + page, quoted: len(page), steps: []step{fetching(page)}, rule: "address"},
		"before what was given":        {prompt: "read " + page + ": x", quoted: 1, steps: []step{fetching(page)}, made: true},
		"a key in what was named":      {prompt: "read " + page + "?canary", steps: []step{fetching(page + "?canary")}, rule: "leak"},
		"a key in a query":             {prompt: "find", steps: []step{calls(call{"web_search", `{"query":"canary"}`})}, rule: "leak"},
		"a key, and full":              {prompt: "find", steps: []step{calls(call{"web_search", `{"query":"canary"}`})}, mode: sdk.ModeFull, rule: "leak"},
		"what the model said first":    {prompt: "go on", steps: []step{says("I read "+page, calls(call{"read", `{"path":"x"}`})), fetching(page)}, rule: "address"},
	} {
		t.Run(name, func(t *testing.T) {
			h := webHouse(t, append(c.steps, say("done"))...)
			h.start()
			a := h.submit(Submission{Run: "r", Prompt: c.prompt, Quoted: c.quoted, Plugin: c.plugin, Mode: c.mode})
			if l := h.await(a); l.Status != sdk.StatusOK {
				t.Fatalf("ended %d: %s", l.Status, l.Reason)
			}
			all := h.actions(a.Run.ID)
			last, err := sdk.ActionOf(all[len(all)-1])
			if err != nil {
				t.Fatal(err)
			}
			if made := last.State == sdk.StateResolved; made != c.made || c.rule != "" && last.Decision.Rule != c.rule {
				t.Errorf("ended %s, decided %+v", last.State, last.Decision)
			}
		})
	}
}

// patternStore counts how often the entries of a run are gone through with a pattern.
type patternStore struct {
	*watchedStore
	patterns atomic.Int32
}

func (s *patternStore) Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error) {
	if q.Pattern != "" {
		s.patterns.Add(1)
	}
	return s.watchedStore.Entries(ctx, q)
}

// TestAddressesWithoutASearch: where no tool is a search whose results would count, a run is not gone through for an address.
func TestAddressesWithoutASearch(t *testing.T) {
	for name, want := range map[string]int32{"web_search": 2, "a_tool": 0} {
		h := prepareHouse(t, fetching("https://docs.example/1"), fetching("https://docs.example/2"), say("done"))
		for _, tool := range []string{"web_fetch", name} {
			h.tools.add(tool, sdk.Annotations{ReadOnly: true, OpenWorld: true}, true)
		}
		h.tools.specs[len(h.tools.specs)-2].Address = "url"
		counted := &patternStore{watchedStore: h.store}
		h.config.Store = counted
		h.start()
		h.await(h.submit(Submission{Run: "r", Prompt: "read", Mode: sdk.ModeFull}))
		if got := counted.patterns.Load(); got != want {
			t.Errorf("beside %s the run was gone through %d times, want %d", name, got, want)
		}
	}
}

// TestSaidInAPrompt: what an agent wrote into the task of another is none of a person's words, nor what stands there of
// a plugin's, a file's or a model's.
func TestSaidInAPrompt(t *testing.T) {
	for l, want := range map[*sdk.Loop]string{
		{Prompt: "p"}: "p",
		{Prompt: "p", Options: json.RawMessage(`{"caller":3}`)}:              "",
		{Prompt: "p", Options: json.RawMessage(`{"plugin":"x"}`)}:            "",
		{Prompt: "p", Options: json.RawMessage(`{"plan":"0011"}`)}:           "",
		{Prompt: "p", Options: json.RawMessage(`{"asker":"a","key":"k"}`)}:   "p",
		{Prompt: "p", Options: json.RawMessage(`{"resumes":1}`)}:             "",
		{Prompt: "say it: quoted", Options: json.RawMessage(`{"quoted":6}`)}: "say it: ",
		{Prompt: "all of it", Options: json.RawMessage(`{"quoted":9}`)}:      "",
		{Prompt: "shorter", Options: json.RawMessage(`{"quoted":90}`)}:       "",
	} {
		if got := saidIn(*l); got != want {
			t.Errorf("%q, %s: %q", l.Prompt, l.Options, got)
		}
	}
}

// TestAKeyByHand: who calls a tool by hand agrees to what is in it, but not to a key, of which nobody told them.
func TestAKeyByHand(t *testing.T) {
	h := webHouse(t)
	h.start()
	for address, made := range map[string]bool{"https://docs.example/page": true, "https://docs.example/?k=canary": false} {
		done, err := h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Tool: "web_fetch", Arguments: json.RawMessage(`{"url":"` + address + `"}`), Approved: true})
		if err != nil {
			t.Fatal(err)
		}
		if done.Result.Success != made || !made && !strings.Contains(done.Result.Error, "the secret KEY") {
			t.Errorf("%s: %+v", address, done.Result)
		}
	}
}

// TestSameHost: the tool is told that its address passed by its host alone.
func TestSameHost(t *testing.T) {
	h := webHouse(t, fetching("https://docs.example/page"), say("done"))
	rules := []sdk.PolicyRule{{Name: "hosts", Source: "c:1", Verdict: sdk.Allow, Hosts: []string{"docs.example"}}}
	h.config.Policy = policy.New(policy.Settings{Rules: rules})
	h.start()
	h.await(h.submit(Submission{Run: "r", Prompt: "read"}))
	if made := h.tools.made; len(made) != 1 || !made[0].SameHost {
		t.Errorf("made %+v", made)
	}
}

// ruled decides by the rules that answers left.
type ruled struct{ h *house }

func (p ruled) Decide(r sdk.PolicyRequest) sdk.Decision {
	return policy.New(policy.Settings{Rules: p.h.engine.cfg.Rules.Allowing(r.Project)}).Decide(r)
}

// TestRememberedHost: an answer may leave a rule about the host, and none about the whole tool.
func TestRememberedHost(t *testing.T) {
	h := webHouse(t, fetching("https://docs.example/page"), fetching("https://docs.example/other?q=1"), fetching("https://other.example/"), say("done"))
	h.config.Policy = ruled{h}
	h.config.Attended = func(int64, string) bool { return true }
	h.start()
	a := h.submit(Submission{Run: "r", Prompt: "read"})
	p := (&askingHouse{house: h}).proposed()
	if p.Decision.Host != "docs.example" {
		t.Errorf("the question is about the host %q", p.Decision.Host)
	}
	if _, err := h.engine.Resolve(t.Context(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept, Remember: sdk.RememberTool}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("the tool is remembered: %v", err)
	}
	var offers []sdk.Remember
	for _, o := range p.Offers {
		offers = append(offers, o.Remember)
	}
	if len(p.Offers) != 0 && !slices.Equal(offers, []sdk.Remember{sdk.RememberCall, sdk.RememberHost}) {
		t.Errorf("offered is %q", offers)
	}
	done, err := h.engine.Resolve(t.Context(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept, Remember: sdk.RememberHost})
	if err != nil || done.Rule == nil || !slices.Equal(done.Rule.Hosts, []string{"docs.example"}) {
		t.Fatalf("%+v, %v", done, err)
	}
	first := p.ID // which waits until its loop has taken the answer
	h.until("the next call is proposed", func() bool {
		p = (&askingHouse{house: h}).proposed()
		return p.ID != first
	})
	if p.Decision.Host != "other.example" {
		t.Errorf("the second question is about the host %q", p.Decision.Host)
	}
	if _, err := h.engine.Resolve(t.Context(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Reject, Reason: "not there"}); err != nil {
		t.Fatal(err)
	}
	h.await(a)
	if made := h.tools.made; len(made) != 2 || !made[1].SameHost {
		t.Errorf("made %+v", made)
	}
}
