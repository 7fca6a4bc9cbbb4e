package main

import (
	"context"
	"encoding/json"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/fact"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/match"
	"github.com/bothyd/bothy/sdk/tool"
)

// desk is a daemon with the runs of some owners, whose entries it keeps and tells the plugin of.
type desk struct {
	t       *testing.T
	m       *memory
	entries map[string]map[string]sdk.Entry // by owner and path
	refuse  bool                            // what no person vouches for, as in a run that has read what came from outside
	said    string                          // by the person in the run
	rests   bool                            // it rests: a quote of what they said vouches for a fact
	answer  sdk.Answer                      // to questions; empty is that nobody can be asked
	asked   []string
	model   func(sdk.Request) (string, error)
	reads   int
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return &desk{t: t, m: newMemory(), entries: map[string]map[string]sdk.Entry{}}
}

// as is the desk for a run of an owner.
func (d *desk) as(owner string) *seat {
	if d.entries[owner] == nil {
		d.entries[owner] = map[string]sdk.Entry{}
	}
	return &seat{Host: host.Refusing(sdk.Errorf(sdk.Unavailable, "not here")), desk: d, owner: owner}
}

// seat is the daemon's services for a run of one owner.
type seat struct {
	host.Host
	*desk
	owner    string
	accepted bool
}

func (s *seat) run() sdk.Run {
	return sdk.Run{ID: int64(crc32.ChecksumIEEE([]byte(s.owner))), Key: "key of " + s.owner, Origin: sdk.Origin{Owner: s.owner, Channel: strings.Split(s.owner, "/")[0]}}
}

func (s *seat) ctx() context.Context { return host.With(s.t.Context(), s) }

func (s *seat) Entries(_ context.Context, pattern string) (found []sdk.Entry, err error) {
	s.reads++
	p, err := match.Parse(pattern)
	if err != nil {
		return nil, err
	}
	for path, e := range s.entries[s.owner] {
		if fits, err := p.Match(path); err != nil || fits {
			found = append(found, e)
		}
	}
	return found, err
}

func (s *seat) Entry(_ context.Context, path string) (sdk.Entry, error) {
	e, there := s.entries[s.owner][path]
	if !there {
		return e, sdk.Errorf(sdk.NotFound, "there is no entry %s", path)
	}
	return e, nil
}

func (s *seat) Write(ctx context.Context, writes ...sdk.Write) (all []sdk.Entry, err error) {
	for _, w := range writes {
		about, _ := fact.Of(sdk.Entry{Path: w.Path, Body: "x", Attributes: w.Attributes})
		if s.refuse && !s.accepted && sdk.SchemeOf(w.Path) == fact.Scheme && (w.Remove || !sdk.StandsIn(s.said, *w.Body) && (!s.rests || !sdk.StandsIn(s.said, about.Quote))) {
			return nil, sdk.Errorf(sdk.Permission, "a person is asked about what it writes there")
		}
	}
	for _, w := range writes {
		if strings.Contains(w.Path, "hunter2") {
			return nil, sdk.Errorf(sdk.Validation, "a path must not hold a secret")
		}
	}
	for _, w := range writes {
		e := s.entries[s.owner][w.Path]
		if !w.Remove {
			e = sdk.Entry{Path: w.Path, Body: strings.ReplaceAll(*w.Body, "hunter2", hidden), Attributes: w.Attributes, Scope: "owner:" + s.owner}
			e.Updated = time.Now()
			s.entries[s.owner][w.Path] = e
		} else {
			e.Updated = time.Now()
			delete(s.entries[s.owner], w.Path)
		}
		if sdk.SchemeOf(w.Path) != fact.Scheme {
			all = append(all, e)
			continue
		}
		if err := s.m.changed(ctx, sdk.EntryEvent{Entry: e, Removed: w.Remove}); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

func (s *seat) Invoke(_ context.Context, name string, arguments []byte) (sdk.ToolResult, error) {
	q, err := sdk.QuestionOf(arguments)
	if err != nil || name != sdk.ToolAskUser || s.answer == "" {
		return sdk.ToolResult{}, sdk.Errorf(sdk.Unavailable, "nobody is there")
	}
	s.asked, s.accepted = append(s.asked, q.Message), s.answer == sdk.Accept
	structured, err := json.Marshal(sdk.QuestionAnswer{Answer: s.answer})
	return sdk.ToolResult{Success: true, Structured: structured}, err
}

func (s *seat) Complete(_ context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	text, err := s.model(req)
	if err != nil {
		return err
	}
	if err := send(sdk.Delta{Text: text}); err != nil {
		return err
	}
	return send(sdk.Delta{Finish: &sdk.Finish{Reason: "stop"}})
}

// use calls a tool, whose text or error it answers.
func (s *seat) use(name, arguments string) string {
	s.t.Helper()
	r, err := s.m.tools().Invoke(s.ctx(), sdk.Invocation{Tool: name, Arguments: json.RawMessage(arguments), Run: s.run().Key}, tool.Stream(nil))
	if err != nil {
		return "error: " + err.Error()
	}
	return r.Output + r.Error
}

// told is what the run's model is told, before the system text.
func (s *seat) told() string {
	s.t.Helper()
	p, err := s.m.tell(s.ctx(), sdk.Prompt{Run: s.run(), System: "You are Bothy."})
	if err != nil {
		s.t.Fatal(err)
	}
	text, whole := strings.CutSuffix(p.System, "You are Bothy.")
	if !whole {
		s.t.Errorf("the system text is %s", p.System)
	}
	return strings.TrimSpace(text)
}

// facts are those that are kept, as KEY: VALUE (SOURCE), by path.
func (s *seat) facts() (all []string) {
	for _, e := range s.entries[s.owner] {
		if e.Scheme() != fact.Scheme {
			continue
		}
		f, is := fact.Of(e)
		if !is {
			s.t.Errorf("%+v is no fact", e)
		}
		all = append(all, f.String()+" ("+f.Source+")")
	}
	return all
}
