package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// front is the process of the plugin in these tests: all that connect descend
// from it.
const front = 4711

// chanHouse is a daemon to which a plugin connects, which is granted the
// project /p/one, and nobody else unless person is set.
type chanHouse struct {
	*house
	audit *fakeAudit
	token string
	end   func()

	person atomic.Bool // who connects now works at this machine, and is no plugin
}

// twoPolicy has a proposal in each project.
type twoPolicy struct{ fakePolicy }

func (*twoPolicy) Proposals(context.Context) ([]sdk.Proposal, error) {
	return []sdk.Proposal{{ID: "0001abcd", Project: "/p/one", Run: 7}, {ID: "0002abcd", Project: "/p/two", Run: 8}}, nil
}

func openChannel(t *testing.T, projects ...string) *chanHouse {
	t.Helper()
	h := &chanHouse{audit: &fakeAudit{}}
	channels := NewChannels()
	h.token, h.end = channels.Grant(Loan{PID: front, Instance: "chat", Projects: projects, Schemes: []string{"chat"}})
	h.house = open(t, func(c *Config) {
		c.Audit, c.Policy, c.Channels = h.audit, &twoPolicy{}, channels
		c.Descended = func(int) bool { return !h.person.Load() }
		c.Within = func(_, ancestor int) bool { return ancestor == front && !h.person.Load() }
		for i := range c.Store.(*fakeStore).runs { // but for the implicit one, a channel made them
			if !c.Store.(*fakeStore).runs[i].Hidden {
				c.Store.(*fakeStore).runs[i].Origin = sdk.Origin{Owner: "chat/ada", Channel: "chat"}
			}
		}
		c.People = fakePeople{"chat/ada": {}, "chat/me": {Owner: sdk.LocalOwner, Agent: "mine"}}
	})
	return h
}

// ada is a person of the channel in these tests.
var ada = &sdk.From{Person: "ada"}

// channel is a client with the token.
func (h *chanHouse) channel(t *testing.T) *client.Client {
	t.Helper()
	c := &client.Client{Socket: h.path, Token: h.token, Name: "chat"}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// calm lets the alarm pass on whatever comes next.
func (h *house) calm() {
	h.alarm.mu.Lock()
	defer h.alarm.mu.Unlock()
	clear(h.alarm.count)
}

// refused reports whether an answer is that a channel, or its role, may not.
func refused(err error) bool {
	var said *rpc.Error
	return errors.As(err, &said) && said.Code == rpc.CodeRole && sdk.OutcomeOf(err) == sdk.Permission
}

// TestEveryMethodIsHeldToTheChannel walks the table: what is not in channelMethods is
// refused, what names something of another project is refused, and what is said
// to know of no project has no parameter that could name one.
// spec: wrong_other_project wrong_roots
func TestEveryMethodIsHeldToTheChannel(t *testing.T) {
	h := openChannel(t, "/p/one")
	c := h.channel(t)
	foreign := map[string]any{"project": "/p/two", "projectRoot": "/p/two", "run": "8", "id": "0002"}
	for name, m := range h.methods {
		if name == rpc.MethodHello {
			continue
		}
		h.calm()
		before := h.audit.count()
		if _, may := channelMethods[name]; !may {
			if err := c.Call(t.Context(), name, json.RawMessage(parameters(m)), nil); !refused(err) || h.audit.count() != before+1 {
				t.Errorf("%s, which is not for channels: %v, %d events", name, err, h.audit.count()-before)
			}
			continue
		}
		var named []string
		for _, f := range fieldsOf(m.params) {
			if _, names := foreign[f.name]; names {
				named = append(named, f.name)
			}
			verbs := []string{rpc.MethodSet, rpc.MethodGet, rpc.MethodRemove, rpc.MethodCopy, rpc.MethodMove, rpc.MethodStreamCancel}
			ofRun := f.name == "action" && m.needs("run") || f.name == "path" && slices.Contains(verbs, name) // and looked for in that
			if slices.Contains([]string{"file", "action", "path", "entry"}, f.name) && !ofRun {
				t.Errorf("%s takes %q, which nobody holds to a project", name, f.name)
			}
		}
		if free := slices.Contains([]string{rpc.MethodPing, rpc.MethodDiscover, rpc.MethodModels, rpc.MethodTools, rpc.MethodUnwatch, rpc.MethodPeople, rpc.MethodClaim, rpc.MethodAnswer}, name); free != (len(named) == 0) {
			t.Errorf("%s names %v, and knows of no project is %v", name, named, free)
		}
		for _, one := range named { // each alone, for one that is the channel's own must not hide the other
			var p map[string]any
			_ = json.Unmarshal([]byte(parameters(m)), &p) // it was just written
			delete(p, "project")
			if m.needs("project") && one != "project" {
				p["project"] = "/p/one"
				if one == "run" {
					continue // an alias, looked for in that project
				}
			}
			p[one] = foreign[one]
			if one == "project" && m.needs("run") {
				p["run"] = "seven"
			}
			h.calm()
			before := h.audit.count()
			err := c.Call(t.Context(), name, p, nil)
			listed := one == "run" && !m.needs("run") && m.role == rpc.RoleObserve && name != rpc.MethodJournal && name != rpc.MethodWatch
			if listed && sdk.OutcomeOf(err) == sdk.Validation {
				continue // a list, for which the project has to be named
			}
			if !refused(err) && (one == "project" || sdk.OutcomeOf(err) != sdk.NotFound) || h.audit.count() != before+1 || !h.audit.has(EventRefusedChannel, name+" outside of its projects") {
				t.Errorf("%s with %v: %v, %d events", name, p, err, h.audit.count()-before)
			}
		}
	}
	if len(h.engine.deeds()) != 0 {
		t.Errorf("the engine did %v", h.engine.deeds())
	}
}

// needs reports whether a method must be given a parameter.
func (m method) needs(name string) bool {
	return slices.ContainsFunc(fieldsOf(m.params), func(f field) bool { return f.name == name && f.required })
}

func (f *fakeEngine) deeds() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.done)
}

// TestAChannelWorks: what is its own it can do.
func TestAChannelWorks(t *testing.T) {
	h := openChannel(t, "/p/one")
	c, ctx := h.channel(t), t.Context()
	hello, err := c.Hello(ctx)
	if err != nil || hello.Role != rpc.RoleSubmit {
		t.Fatalf("%+v %v", hello, err)
	}
	if a, err := c.Act(ctx, rpc.Prompt{Project: "/p/one/../one", Prompt: "go", From: ada}); err != nil || a.ID != 7 {
		t.Errorf("act: %+v %v", a, err)
	}
	for name, p := range map[string]any{
		rpc.MethodRun: rpc.RunRef{Run: "7"}, rpc.MethodEntries: rpc.EntriesParams{Run: "seven", Project: "/p/one"},
		rpc.MethodRuns: rpc.RunsParams{Project: "/p/one"}, rpc.MethodTools: nil, rpc.MethodModels: nil, rpc.MethodPing: nil,
		rpc.MethodReset: rpc.RunRef{Run: "8", Project: "/p/one"}, rpc.MethodProposals: rpc.ProposalsParams{Project: "/p/one"},
		rpc.MethodProposal: rpc.ProposalRef{ID: "0001"}, rpc.MethodAbort: rpc.RunRef{Run: "9"}, rpc.MethodLeave: rpc.RunRef{Run: "9"},
	} {
		if err := c.Call(ctx, name, p, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if done := h.engine.deeds(); !slices.Contains(done, "reset 9") {
		t.Errorf("the run that is called 8 was not the one reset: %v", done)
	}
	long := strings.NewReader(strings.Repeat("x", rpc.MaxWorkspacePiece+1))
	if name, err := c.PutFile(ctx, "seven", "/p/one", "x.txt", int64(long.Len()), long); err != nil || name != "x.txt" || long.Len() != 0 {
		t.Errorf("putting a file: %q, %v, %d bytes left", name, err, long.Len())
	}
	if data, err := c.FetchFile(ctx, "7", "", "x.txt"); err != nil || string(data) != "x" {
		t.Errorf("fetching a file: %q, %v", data, err)
	}
	if err := c.Call(ctx, rpc.MethodRuns, nil, nil); sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), "/p/one") {
		t.Errorf("without a project: %v", err)
	}
	if err := c.Call(ctx, rpc.MethodRun, rpc.RunRef{Run: "10"}, nil); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("a person's run: %v", err)
	}
	h.calm()
	for _, p := range []rpc.Prompt{{Mode: sdk.ModeFull}, {Yolo: true}, {Attend: true}} {
		p.Project, p.Prompt, p.From = "/p/one", "go", ada
		if _, err := c.Act(ctx, p); !refused(err) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if h.audit.count() != 4 || !h.audit.has(EventRefusedApproval, "act with yolo") {
		t.Errorf("the audit has %v %q", h.audit.events, h.audit.details)
	}
}

// TestAChannelSeesItsRows: by whichever way it asks for the journal.
func TestAChannelSeesItsRows(t *testing.T) {
	h := openChannel(t, "/p/one", "/p/three")
	commit := func() {
		h.store.commit(
			sdk.JournalRow{Kind: "one", Run: 7, Project: 1}, sdk.JournalRow{Kind: "two", Run: 8, Project: 2},
			sdk.JournalRow{Kind: "none"}, sdk.JournalRow{Kind: "of the project", Project: 1}, sdk.JournalRow{Kind: "of the terminal", Run: 12, Project: 3},
			sdk.JournalRow{Kind: "new", Run: 11, Project: 3},
		)
	}
	commit()
	h.store.found(sdk.Project{ID: 3, Root: "/p/three"}, sdk.Run{ID: 11, Project: 3, Origin: sdk.Origin{Owner: "chat/ada", Channel: "chat"}}, sdk.Run{ID: 12, Project: 3, Origin: sdk.Origin{Owner: sdk.LocalOwner}})
	c := h.channel(t)
	var page rpc.JournalPage
	if err := c.Call(t.Context(), rpc.MethodJournal, nil, &page); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, r := range page.Rows {
		kinds = append(kinds, r.Kind)
	}
	if !slices.Equal(kinds, []string{"one", "new"}) {
		t.Errorf("it read %v", kinds)
	}
	enough := errors.New("enough")
	kinds = nil
	err := c.Follow(t.Context(), client.Watch{After: 0, Preview: true}, func(e client.Event) error {
		if e.Preview != nil {
			t.Errorf("it was shown a preview of run %d", e.Preview.Run)
		}
		if e.Row != nil {
			kinds = append(kinds, e.Row.Kind)
		}
		if len(kinds) == 2 {
			h.Preview(rpc.Preview{Run: 8, Text: "of another"})
			commit()
		}
		if len(kinds) == 4 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || !slices.Equal(kinds, []string{"one", "new", "one", "new"}) {
		t.Errorf("it followed %v (%v)", kinds, err)
	}
}

// TestLinksLeadNowhereElse: a project is what it leads to, and what the handler
// gets is what was looked at.
func TestLinksLeadNowhereElse(t *testing.T) {
	dir := t.TempDir()
	own, other, link := filepath.Join(dir, "own"), filepath.Join(dir, "other"), filepath.Join(dir, "link")
	for _, d := range []string{own, other} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h := openChannel(t, own)
	c := h.channel(t)
	for target, ok := range map[string]bool{own: true, other: false} {
		_ = os.Remove(link) // it may not be there
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		_, err := c.StartRun(t.Context(), rpc.StartRun{Project: link, Run: "x", From: ada})
		if ok && err != nil || !ok && !refused(err) {
			t.Errorf("%s: %v", target, err)
		}
	}
	if _, err := c.StartRun(t.Context(), rpc.StartRun{Project: own + "/below"}); !refused(err) {
		t.Errorf("a folder below: %v", err)
	}
}

// TestPluginsWithoutTheToken: being a channel's plugin is not enough.
func TestPluginsWithoutTheToken(t *testing.T) {
	h := openChannel(t, "/p/one")
	other, _ := h.cfg.Channels.Grant(Loan{PID: 1, Instance: "other", Projects: []string{"/p/two"}})
	bare := &client.Client{Socket: h.path}
	t.Cleanup(func() { _ = bare.Close() })
	for name, token := range map[string]string{"none": "", "another's": other, "no token": strings.Repeat("0", 64), "of a role": h.house.token(t, rpc.RoleAdmin)} {
		c := client.Client{Socket: h.path, Token: token}
		before := h.audit.count()
		_, err := c.Act(t.Context(), rpc.Prompt{Project: "/p/one", Prompt: "go"})
		_ = c.Close()
		if !refused(err) || h.audit.count() != before+1 {
			t.Errorf("%s: %v, %d events", name, err, h.audit.count()-before)
		}
	}
	c := client.Client{Socket: h.path, Token: h.token, Role: rpc.RoleApprove}
	if _, err := c.Hello(t.Context()); !refused(err) {
		t.Errorf("it asked for approve: %v", err)
	}
	_ = c.Close()
	r := h.dial(t)
	for name, m := range h.methods {
		if name == rpc.MethodHello {
			continue
		}
		h.calm()
		before := h.audit.count()
		r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", name, parameters(m)))
		if a := r.answer(); a.Error == nil || a.Error.Code != rpc.CodeRole || h.audit.count() != before+1 {
			t.Errorf("%s before hello: %+v", name, a)
		}
	}
	h.SkillsChanged(rpc.SkillsChanged{Added: []string{"x"}})
	r.send(`{"jsonrpc":"2.0","id":1,"method":"status"}` + "\n")
	for {
		m, err := r.next()
		if err != nil || m.Method == rpc.NoteSkills {
			t.Errorf("it was told %+v (%v)", m, err)
		}
		if m.Method == "" {
			break
		}
	}
}

// TestTheTokenIsForThePluginAlone: in other hands it is a wrong one.
func TestTheTokenIsForThePluginAlone(t *testing.T) {
	h := openChannel(t, "/p/one")
	people := openBeside(t, h)
	c := client.Client{Socket: people.path, Token: h.token}
	if _, err := c.Hello(t.Context()); !refused(err) {
		t.Errorf("%v", err)
	}
	_ = c.Close()
}

// openBeside is a daemon of the same channels to which people connect.
func openBeside(t *testing.T, h *chanHouse) *house {
	return open(t, func(c *Config) {
		c.Channels = h.cfg.Channels
		c.Descended = func(int) bool { return false }
		c.Within = h.cfg.Within
	})
}

// TestTheEndOfAChannel: its token is none any more, its connections are closed,
// and its plugin is refused like any other.
func TestTheEndOfAChannel(t *testing.T) {
	h := openChannel(t, "/p/one")
	c := h.channel(t)
	if err := c.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	pending := h.dial(t)
	if m, err := pending.next(); err != nil || m.Method != rpc.MethodHello {
		t.Fatalf("%+v %v", m, err)
	}
	followed := make(chan error, 1)
	go func() {
		followed <- c.Follow(t.Context(), client.Watch{}, func(client.Event) error { return nil })
	}()
	eventually(t, "it follows", func() bool { return h.connections() == 3 })
	h.end()
	if err := <-followed; err == nil {
		t.Error("following ended well")
	}
	pending.closed()
	eventually(t, "its connections are closed", func() bool { return h.connections() == 0 })
	err := c.Ping(t.Context())
	if errors.Is(err, client.ErrDisconnected) { // the client may learn only by this that its connection is closed
		err = c.Ping(t.Context())
	}
	var said *rpc.Error
	if !errors.As(err, &said) || said.Code != rpc.CodeRefused {
		t.Errorf("after the end: %v", err)
	}
}

// TestChannelsLeaveRoom: one cannot take all connections.
func TestChannelsLeaveRoom(t *testing.T) {
	h := openChannel(t, "/p/one")
	for range channelConns {
		r := h.dial(t)
		if m, err := r.next(); err != nil || m.Method != rpc.MethodHello {
			t.Fatalf("%+v %v", m, err)
		}
	}
	r := h.dial(t)
	r.wantError(rpc.CodeBusy, "16 connections")
}
