package daemon

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/webguard/webtest"
)

// slowSite serves a page, which the first to ask for it gets half of and then no more.
type slowSite struct {
	url   string
	page  string
	half  chan struct{} // half of it was sent
	mu    sync.Mutex
	asked map[string]int // by path
}

func newSlowSite(t *testing.T) *slowSite {
	s := &slowSite{page: strings.Repeat("a line of it\n", 5000) + "the end\n", half: make(chan struct{}, 1), asked: map[string]int{}}
	w := webtest.New(t)
	s.url = "http://" + w.Here("site")
	w.Serve(80, s)
	return s
}

// ServeHTTP implements http.Handler.
func (s *slowSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked[r.URL.Path]++
	stalls := r.URL.Path == "/stalls" && s.asked[r.URL.Path] == 1
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if !stalls {
		_, _ = io.WriteString(w, s.page) // who hangs up has read enough
		return
	}
	_, _ = io.WriteString(w, s.page[:len(s.page)/2])
	_ = http.NewResponseController(w).Flush()
	s.half <- struct{}{}
	<-r.Context().Done()
}

func (s *slowSite) times(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[path]
}

// newFetchVisitor is a visitor whose daemons fetch.
func newFetchVisitor(t *testing.T) *visitor {
	v := &visitor{random: seeded(t), site: newSite(t, withoutSandbox, "plugin \"web\" {\n  grants = [\"entries\"]\n}\n",
		fmt.Sprintf("provider \"parrot\" {\n  plugin   = \"openai\"\n  base_url = %q\n}\n", modelServer(t)))}
	v.binary = withFailpoints(t)
	return v
}

// fetchScene fetches a page of its own.
func fetchScene(s *slowSite) scenario {
	return scenario{
		act: func(v *visitor, j *job) error { return v.fetch(j, s.url+"/"+j.tag) },
		check: func(v *visitor, j *job) {
			v.t.Helper()
			v.fetched(j, s, "/"+j.tag)
		},
	}
}

// fetch has a model fetch an address, unless an earlier daemon took the prompt, and waits for the end.
func (v *visitor) fetch(j *job, address string) error {
	ctx, cancel := actTime()
	defer cancel()
	d, err := v.client.Run(ctx, rpc.RunRef{Run: j.tag, Project: v.project})
	if sdk.OutcomeOf(err) == sdk.NotFound || err == nil && len(d.Loops) == 0 { // or it died with the run made, and no prompt in it
		var a rpc.Accepted
		a, err = v.client.Act(ctx, rpc.Prompt{Project: v.project, Run: j.tag, Model: "parrot/parrot", Prompt: `call web_fetch {"url":"` + address + `"}`})
		d.ID = a.ID
	}
	if err != nil {
		return err
	}
	j.run = d.ID
	for {
		d, err := v.client.Run(ctx, rpc.RunRef{Run: strconv.FormatInt(j.run, 10)})
		if err != nil {
			return err
		}
		if n := len(d.Loops); n > 0 && !d.Loops[n-1].Ended.IsZero() {
			return nil
		}
		if err := pause(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
}

// fetched holds what became of a fetch: it has an end, and then there is the whole page, or it was interrupted, and
// then there is none. It was made again once at most.
func (v *visitor) fetched(j *job, s *slowSite, path string) {
	v.t.Helper()
	actions := v.entries(j.run, "log://turn_*/*web_fetch/*")
	pages := v.entries(j.run, s.url+"/**")
	if len(actions) != 1 {
		v.t.Fatalf("there are %d fetches\n%s", len(actions), v.evidence())
	}
	switch a := actions[0]; {
	case a.State == sdk.StateResolved:
		if len(pages) != 1 || pages[0].Path != s.url+path || pages[0].Body != s.page {
			v.t.Errorf("it was fetched, and there are %d pages: %.200v", len(pages), pages)
		}
	case a.Outcome != sdk.Interrupted && a.Outcome != sdk.PluginCrashed:
		v.t.Errorf("it came to %s %s", a.State, a.Outcome)
	case len(pages) != 0:
		v.t.Errorf("it came to %s, and there are %d pages", a.Outcome, len(pages))
	}
	if n := s.times(path); n > 2 {
		v.t.Errorf("it was asked %d times", n)
	}
}

// TestFetchKilled kills daemons around each moment of a fetch: there is the whole page as an entry, or none.
func TestFetchKilled(t *testing.T) {
	t.Parallel()
	withFailpoints(t)
	s, v := newSlowSite(t), newFetchVisitor(t)
	for _, point := range []failpoint.Name{failpoint.RecordAfter, failpoint.EffectBefore, failpoint.EffectAfter, failpoint.StepAfter, failpoint.VerdictBefore} {
		v.visitScene(fetchScene(s), point)
	}
	every := eachCommitOr(4)
	if around := v.around(fetchScene(s), 1+v.random.IntN(every), every); around < 2 {
		t.Errorf("killed around %d commits: there are fewer than this does", around)
	}
	v.leaveAll()
}

// TestKillInAFetch kills the daemon, or the plugin, when half of a page has come.
func TestKillInAFetch(t *testing.T) {
	for name, strike := range map[string]func(*site){
		"the daemon": func(s *site) { s.kill(); s.up() },
		"the plugin": func(s *site) { s.killPlugin("web") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, v := newSlowSite(t), newFetchVisitor(t)
			v.up()
			j := &job{tag: "half"}
			over := make(chan error, 1)
			go func() { over <- v.fetch(j, s.url+"/stalls") }()
			select {
			case <-s.half:
			case err := <-over:
				t.Fatalf("the fetch is over: %v\n%s", err, v.evidence())
			case <-time.After(patience):
				t.Fatalf("nothing was asked\n%s", v.evidence())
			}
			strike(v.site)
			<-over // with the daemon, or well
			if err := v.fetch(j, s.url+"/stalls"); err != nil {
				t.Fatalf("%v\n%s", err, v.evidence())
			}
			v.fetched(j, s, "/stalls")
			v.nothingLeft()
			v.whole()
		})
	}
}
