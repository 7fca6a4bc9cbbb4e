package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// tellsAll tells plugins of all rests that they are owed.
func (h *house) tellsAll() {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { h.engine.owed.Run(ctx) })
	h.until("all rests are heard", func() bool {
		owed, err := h.store.Owed(context.Background())
		if err != nil {
			h.t.Fatal(err)
		}
		return len(owed) == 0
	})
	cancel()
	done.Wait()
}

// hears subscribes to rests as a plugin does, and notes what it was told.
func (h *house) hears(plugin string, then func(context.Context, sdk.Rest) error) func() string {
	var mu sync.Mutex
	var told []string
	h.hooks.RunRested.On(10, plugin, func(ctx context.Context, r sdk.Rest) error {
		mu.Lock()
		told = append(told, fmt.Sprintf("%s %d-%d %s", r.Run.Alias, r.From, r.To, r.Why))
		mu.Unlock()
		if then == nil {
			return nil
		}
		return then(ctx, r)
	})
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		all := strings.Join(told, ", ")
		told = nil
		return all
	}
}

var rests = Keep{Rest: 30 * time.Minute, ChannelRest: time.Hour}

// look has runs rest as they do after some time.
func (h *house) look(move func(time.Duration), after time.Duration) {
	h.t.Helper()
	move(after)
	if err := h.engine.restOlder(h.t.Context(), rests); err != nil {
		h.t.Fatal(err)
	}
	h.tellsAll()
}

// TestRests: each way to a rest, told once with what came since the last one.
func TestRests(t *testing.T) {
	h, move := aged(t)
	told := h.hears("memory", nil)
	said := func(want string) {
		t.Helper()
		if got := told(); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	a := h.submit(Submission{Run: "talk"})
	h.await(a)
	h.run(Submission{Run: "talk"})
	if _, err := h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Approved: true, Tool: "read", Arguments: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	h.untilIdle()
	h.look(move, 29*time.Minute)
	said("")
	h.look(move, 31*time.Minute)
	said("talk 1-2 idle")
	h.look(move, 90*time.Minute)
	said("")
	h.run(Submission{Run: "talk"})
	h.untilIdle()
	if rested, err := h.engine.Leave(t.Context(), a.Run.ID); err != nil || !rested {
		t.Errorf("left, it rests: %v, %v", rested, err)
	}
	h.tellsAll()
	said("talk 3-3 left")
	if rested, err := h.engine.Leave(t.Context(), a.Run.ID); err != nil || rested {
		t.Errorf("left again, it rests again: %v, %v", rested, err)
	}
	h.run(Submission{Run: "talk"})
	h.untilIdle()
	if err := h.engine.Reset(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.tellsAll()
	said("talk 4-4 reset")
	fork, err := h.engine.Fork(t.Context(), Fork{Run: a.Run.ID, Alias: "fork"})
	if err != nil {
		t.Fatal(err)
	}
	h.look(move, 3*time.Hour)
	said("")
	h.run(Submission{Run: fork.Alias})
	h.untilIdle()
	h.look(move, 4*time.Hour)
	said("fork 5-5 idle")
	if h.kinds(a.Run.ID) != "run.created run.rested run.heard run.rested run.heard run.reset run.rested run.heard" {
		t.Error(h.kinds(a.Run.ID))
	}
}

// TestLeftAtWork: a run that is left while it works rests when that is over; a prompt takes it back.
func TestLeftAtWork(t *testing.T) {
	begun := make(chan struct{}, 2)
	h, move := aged(t, hanging(begun), hanging(begun), say("done"))
	told := h.hears("memory", nil)
	a := h.submit(Submission{Run: "talk"})
	<-begun
	leave := func() {
		t.Helper()
		if rested, err := h.engine.Leave(t.Context(), a.Run.ID); err != nil || rested {
			t.Fatalf("a run at work rests: %v, %v", rested, err)
		}
	}
	end := func() {
		t.Helper()
		if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
			t.Fatal(err)
		}
	}
	leave()
	h.look(move, time.Hour)
	end()
	b := h.submit(Submission{Run: "talk"})
	<-begun
	h.look(move, 0)
	end()
	h.await(b)
	h.untilIdle()
	h.look(move, time.Second)
	if got := told(); got != "" {
		t.Errorf("told %q", got)
	}
	h.run(Submission{Run: "talk"})
	h.untilIdle()
	leave2, err := h.engine.Leave(t.Context(), a.Run.ID)
	h.tellsAll()
	if got := told(); err != nil || !leave2 || got != "talk 1-3 left" {
		t.Errorf("told %q, %v", got, err)
	}
}

// TestRestIsOwed: a plugin that fails, that is not there, or whose daemon ends, is told again; one that comes later is not
// told of what was before.
func TestRestIsOwed(t *testing.T) {
	h, move := aged(t)
	fail := errors.New("no")
	told := h.hears("memory", func(context.Context, sdk.Rest) error { return fail })
	a := h.submit(Submission{Run: "talk"})
	h.await(a)
	h.untilIdle()
	move(time.Hour)
	if err := h.engine.restOlder(t.Context(), rests); err != nil {
		t.Fatal(err)
	}
	later := h.hears("later", nil)
	owed, err := h.store.Owed(t.Context())
	if err != nil || len(owed) != 1 || owed[0] != (sdk.OwedRest{Run: a.Run.ID, Plugin: "memory", From: 1, To: 1, Why: sdk.RestIdle}) {
		t.Fatalf("owed %+v, %v", owed, err)
	}
	if err := h.engine.tellRest(t.Context(), owed[0]); !errors.Is(err, fail) {
		t.Errorf("a failure: %v", err)
	}
	absent := owed[0]
	absent.Plugin = "absent"
	wants(t, h.engine.tellRest(t.Context(), absent), sdk.Unavailable, "does not subscribe to run.rested now")
	h.cut()
	h.start()
	fail = nil
	h.tellsAll()
	if got := told(); got != "talk 1-1 idle, talk 1-1 idle" || later() != "" {
		t.Errorf("told %q", got)
	}
}

// TestDeletedIsNotTold: what plugins are owed goes with the run.
func TestDeletedIsNotTold(t *testing.T) {
	h, move := aged(t)
	told := h.hears("memory", nil)
	a := h.submit(Submission{Run: "talk"})
	h.await(a)
	h.untilIdle()
	move(time.Hour)
	if err := h.engine.restOlder(t.Context(), rests); err != nil {
		t.Fatal(err)
	}
	owed, err := h.store.Owed(t.Context())
	if err != nil || len(owed) != 1 {
		t.Fatalf("owed %+v, %v", owed, err)
	}
	if err := h.engine.Delete(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	if err := h.engine.tellRest(t.Context(), owed[0]); err != nil {
		t.Errorf("a run that is gone: %v", err)
	}
	h.look(move, 2*time.Hour)
	if got := told(); got != "" {
		t.Errorf("told %q", got)
	}
}

// TestRestOfAChannel: the container goes, once, and later than elsewhere.
func TestRestOfAChannel(t *testing.T) {
	h, move := aged(t)
	x := listen(h)
	told := h.hears("memory", nil)
	h.run(Submission{Run: "chat_a", Origin: sdk.Origin{Owner: "chat/1", Channel: "chat"}})
	h.run(Submission{Run: "desk"})
	h.untilIdle()
	h.look(move, 31*time.Minute)
	if got := told(); got != "desk 1-1 idle" || x.take() != "" {
		t.Errorf("told %q", got)
	}
	h.look(move, 61*time.Minute)
	if got, heard := told(), x.take(); got != "chat_a 1-1 idle" || heard != "expired chat_a" {
		t.Errorf("told %q, heard %q", got, heard)
	}
}

// TestRestOfAFamily: a parent rests when its children do, and they with it.
func TestRestOfAFamily(t *testing.T) {
	h, move := aged(t)
	told := h.hears("memory", nil)
	a := h.submit(Submission{Run: "parent"})
	h.await(a)
	child := h.child(a.Run, "child")
	h.run(Submission{Run: child.Alias})
	h.untilIdle()
	if rested, err := h.engine.Leave(t.Context(), child.ID); err != nil || rested {
		t.Errorf("a child rests alone: %v, %v", rested, err)
	}
	h.look(move, time.Hour)
	if got := told(); got != "parent 1-1 idle" {
		t.Errorf("told %q", got)
	}
}

// TestServicesOfARest: entries and models, at the run's cost, and nothing that acts.
func TestServicesOfARest(t *testing.T) {
	cost := 0.4
	paid := func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		return errors.Join(send(sdk.Delta{Text: "learned"}), send(sdk.Delta{Usage: &sdk.Usage{Prompt: 1, Total: 1, Cost: &cost}}), send(sdk.Delta{Finish: &sdk.Finish{Reason: "stop"}}))
	}
	h := prepareHouse(t, say("hello"), paid, paid, paid)
	h.agents["it"] = sdk.Agent{Guards: sdk.Guards{MaxCost: 0.5}}
	s := new(Services)
	h.config.Services = s
	h.start()
	var outcomes []string
	note := func(what string, err error) {
		if err == nil {
			what += " done"
		} else {
			what += " " + string(sdk.OutcomeOf(err))
		}
		outcomes = append(outcomes, what)
	}
	var c sdk.Caller
	h.hears("fake", func(ctx context.Context, r sdk.Rest) error {
		c = sdk.Caller{Instance: "fake", Call: r.Call("fake"), Run: r.Run.Key, RunDir: r.RunDir}
		found, err := s.Entries(ctx, c, "prompt://*")
		if err != nil || len(found) != 1 || found[0].Body != "remember me" {
			t.Errorf("prompts %+v, %v", found, err)
		}
		body := "a fact"
		_, err = s.Write(ctx, c, []sdk.Write{{Path: "known://fact", Body: &body, Writer: sdk.WriterPlugin}})
		note("write", err)
		_, err = s.Do(ctx, c, []sdk.EntryCall{{Verb: sdk.VerbGet, Path: "run://talk"}}, func(string) bool { return true })
		note("run", err)
		_, err = s.Invoke(ctx, c, "read", []byte("{}"))
		note("tool", err)
		for range 3 {
			note("model", s.Complete(ctx, c, sdk.Request{Messages: []sdk.Message{{Role: sdk.RoleUser, Text: "learn"}}}, func(sdk.Delta) error { return nil }))
		}
		return nil
	})
	a := h.submit(Submission{Run: "talk", Agent: "it", Prompt: "remember me"})
	h.await(a)
	h.untilIdle()
	if _, err := h.engine.Leave(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.tellsAll()
	if got, want := strings.Join(outcomes, ", "), "write done, run permission, tool permission, model done, model done, model permission"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, err := s.Entry(t.Context(), c, "prompt://1"); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a service after the rest was heard: %v", err)
	}
	rows, err := h.store.Journal(t.Context(), sdk.JournalQuery{Run: a.Run.ID, Kinds: []string{sdk.KindNoteCompletion}})
	if err != nil || len(rows) != 2 || rows[0].Loop != a.Loop.ID {
		t.Errorf("the run was not told what it pays for: %+v, %v", rows, err)
	}
	if facts := h.entries(a.Run.ID, "known://"); len(facts) != 1 || facts[0].Body != "a fact" || facts[0].IsForeign() {
		t.Errorf("wrote %+v", facts)
	}
}

// TestConversations: a prompt of a channel that names no run goes on where its conversation does, until that rests or is
// left; of each person, group and topic by itself.
func TestConversations(t *testing.T) {
	h, move := aged(t)
	from := func(of sdk.From, run string) string {
		t.Helper()
		a := h.submit(Submission{Run: run, From: &of, Origin: sdk.Origin{Owner: sdk.OwnerOf("chat", of, sdk.Person{}), Channel: "chat"}})
		h.await(a)
		return a.Run.Alias
	}
	ada := sdk.From{Person: "ada"}
	first := from(ada, "")
	h.look(move, 59*time.Minute)
	if again := from(ada, ""); again != first {
		t.Errorf("it went on in %s", again)
	}
	others := map[string]bool{first: true}
	for _, of := range []sdk.From{{Person: "bob"}, {Person: "ada", Conversation: "g"}, {Person: "ada", Conversation: "g", Thread: "t"}, {Person: "ada", Thread: "t"}} {
		if at := from(of, ""); others[at] {
			t.Errorf("%+v went on in %s", of, at)
		} else {
			others[at] = true
		}
	}
	if a, b := from(sdk.From{Person: "ada", Conversation: "g"}, ""), from(sdk.From{Person: "bob", Conversation: "g"}, ""); a != b || !others[a] {
		t.Errorf("a group goes on in %s and %s", a, b)
	}
	h.untilIdle()
	h.look(move, 2*time.Hour)
	second := from(ada, "")
	if others[second] {
		t.Errorf("after a rest it went on in %s", second)
	}
	h.untilIdle()
	run, err := h.store.RunByAlias(t.Context(), 1, second)
	if err != nil {
		t.Fatal(err)
	}
	if rested, err := h.engine.Leave(t.Context(), run.ID); err != nil || !rested {
		t.Fatalf("left: %v, %v", rested, err)
	}
	third := from(ada, "")
	if third == second || from(ada, first) != first || from(ada, "") != first {
		t.Errorf("resumed, it goes on elsewhere than in %s", first)
	}
	runs, err := h.store.Runs(t.Context(), sdk.RunFilter{Of: &sdk.Conversation{Origin: run.Origin, Name: ada.Name()}})
	if got, want := strings.Join(sdk.Aliases(runs), " "), strings.Join([]string{first, third, second}, " "); err != nil || got != want {
		t.Errorf("lists %s, want %s (%v)", got, want, err)
	}
}

// TestMessagesAtOnce: two messages at the same moment begin one run.
func TestMessagesAtOnce(t *testing.T) {
	h := newHouse(t)
	var all sync.WaitGroup
	runs := make([]string, 8)
	for i := range runs {
		all.Go(func() {
			a, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Prompt: "hello", From: &sdk.From{Person: "ada"}, Origin: sdk.Origin{Owner: "chat/ada", Channel: "chat"}})
			if err != nil {
				t.Error(err)
			}
			runs[i] = a.Run.Alias
		})
	}
	all.Wait()
	for _, at := range runs {
		if at != runs[0] {
			t.Fatalf("they went to %q", runs)
		}
	}
}

// TestNothingIsToldAbroad: at a rest no model elsewhere is told what the run told only one here.
func TestNothingIsToldAbroad(t *testing.T) {
	for name, c := range map[string]struct {
		own, asked bool // on this machine
		refused    bool
	}{"both here": {true, true, false}, "abroad": {true, false, true}, "it was abroad before": {false, false, false}, "home": {false, true, false}} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.models.local = map[string]bool{"own": c.own, "asked": c.asked}
			now := &serving{a: &activeLoop{loop: sdk.Loop{Model: "own"}}}
			choice, err := h.models.Resolve(t.Context(), "asked")
			if err != nil {
				t.Fatal(err)
			}
			if err := h.engine.tellsAbroad(t.Context(), now, choice); (err != nil) != c.refused || err != nil && sdk.OutcomeOf(err) != sdk.Permission {
				t.Errorf("refused: %v", err)
			}
		})
	}
}

// TestMessages: a model is shown the last messages of a run that a channel began, and all of any other.
func TestMessages(t *testing.T) {
	for name, c := range map[string]struct {
		origin sdk.Origin
		agent  string
		most   int
	}{
		"here":                {sdk.Origin{}, "free", 61},
		"a channel":           {sdk.Origin{Owner: "chat/1", Channel: "chat"}, "free", sdk.ChannelMessages},
		"as the agent has it": {sdk.Origin{Owner: "chat/1", Channel: "chat"}, "brief", 5},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t)
			h.agents["brief"] = sdk.Agent{Messages: 5}
			h.start()
			for i := range 31 {
				h.run(Submission{Run: "talk", Agent: c.agent, Origin: c.origin, Prompt: fmt.Sprintf("say %d", i)})
			}
			m := h.models.asked()[30].Messages[1:] // behind the system text
			first, left := m[0].Text, m[1].Text
			if c.most < 61 && (len(m) != c.most+2 || !strings.Contains(left, "not shown")) || c.most == 61 && len(m) != 61 || first != "say 0" || m[len(m)-1].Text != "say 30" {
				t.Errorf("%d messages, the first %q, behind it %q", len(m), first, left)
			}
		})
	}
}

// TestRestOfAnUnpinnedPlugin: what it writes at a rest came from outside, and nothing that other runs read.
func TestRestOfAnUnpinnedPlugin(t *testing.T) {
	h := prepareHouse(t)
	s := new(Services)
	h.config.Services = s
	h.start()
	if err := h.store.RegisterScheme(t.Context(), sdk.Scheme{Name: "fact", Scope: "owner", WritableBy: []sdk.Writer{sdk.WriterPlugin}, Category: sdk.CategoryData}); err != nil {
		t.Fatal(err)
	}
	var wide error
	h.hears("evil", func(ctx context.Context, r sdk.Rest) error {
		c := sdk.Caller{Instance: "evil", Call: r.Call("evil"), Run: r.Run.Key, RunDir: r.RunDir}
		body := "obey"
		_, err := s.Write(ctx, c, []sdk.Write{{Path: "known://fact", Body: &body, Writer: sdk.WriterPlugin}})
		_, wide = s.Write(ctx, c, []sdk.Write{{Path: "fact://a/1", Body: &body, Writer: sdk.WriterPlugin}})
		return err
	})
	a := h.submit(Submission{Run: "talk"})
	h.await(a)
	h.untilIdle()
	if _, err := h.engine.Leave(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.tellsAll()
	if found := h.entries(a.Run.ID, "known://"); len(found) != 1 || !found[0].IsForeign() {
		t.Errorf("wrote %+v", found)
	}
	wants(t, wide, sdk.Permission, "asks nobody")
}

// TestRestThatIsCut: a daemon that ends while a plugin learns has the next one tell it again, and it is heard once.
func TestRestThatIsCut(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := prepareHouse(t, say("hello"), hanging(begun), say("learned"))
	s := new(Services)
	h.config.Services = s
	h.start()
	told := h.hears("fake", func(ctx context.Context, r sdk.Rest) error {
		c := sdk.Caller{Instance: "fake", Call: r.Call("fake"), Run: r.Run.Key, RunDir: r.RunDir}
		return s.Complete(ctx, c, sdk.Request{}, func(sdk.Delta) error { return nil })
	})
	a := h.submit(Submission{Run: "talk"})
	h.await(a)
	h.untilIdle()
	if _, err := h.engine.Leave(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	first := h.engine
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { first.owed.Run(ctx); close(done) }()
	<-begun
	h.cut()
	cancel()
	<-done
	h.start()
	h.tellsAll()
	if got := told(); got != "talk 1-1 left, talk 1-1 left" || h.kinds(a.Run.ID) != "run.created run.rested run.heard" {
		t.Errorf("told %q, journal %s", got, h.kinds(a.Run.ID))
	}
}

// TestOtherSettingsOfRests: they count while it is waited for the next look, which is a minute away.
func TestOtherSettingsOfRests(t *testing.T) {
	h := newHouse(t, say("done"))
	heard := h.hears("ledger", nil)
	a := h.submit(Submission{})
	h.await(a)
	var mu sync.Mutex
	keep, asked := rests, make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	defer done.Wait()
	defer cancel()
	done.Go(func() {
		h.engine.followRests(ctx, func() Keep {
			mu.Lock()
			defer mu.Unlock()
			select {
			case asked <- struct{}{}:
			default:
			}
			return keep
		})
	})
	<-asked
	mu.Lock()
	keep.Rest = time.Millisecond
	mu.Unlock()
	h.until("the run rests", func() bool { return heard() == a.Run.Alias+" 1-1 idle" })
}
