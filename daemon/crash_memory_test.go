package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/fact"
	"github.com/bothyd/bothy/sdk/rpc"
)

// learner is the model that is asked what is to be learned of plans: their tags. What it says of one is another thing each time.
type learner struct {
	server *httptest.Server

	mu    sync.Mutex
	asked map[string]int // by tag
	holds bool           // the next answer waits for the end of who asked
	held  chan struct{}  // gets a value when one waits
}

func newLearner(t testing.TB) *learner {
	l := &learner{asked: map[string]int{}, held: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintln(w, `{"object":"list","data":[{"id":"learner","object":"model"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", l.complete)
	l.server = httptest.NewServer(mux)
	t.Cleanup(func() {
		l.server.CloseClientConnections()
		l.server.Close()
	})
	return l
}

// tagged finds the words of a plan that name its tag.
var tagged = regexp.MustCompile(`"tag":"(v\d+)"`)

func (l *learner) complete(w http.ResponseWriter, r *http.Request) {
	var request struct{ Messages []chatMessage }
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	said := tagged.FindStringSubmatch(request.Messages[len(request.Messages)-1].Content)
	if said == nil {
		http.Error(w, "no plan is in what the person said", http.StatusBadRequest)
		return
	}
	l.mu.Lock()
	l.asked[said[1]]++
	n, holds := l.asked[said[1]], l.holds
	l.holds = false
	l.mu.Unlock()
	if holds {
		l.held <- struct{}{}
		<-r.Context().Done()
		return
	}
	learned, err := json.Marshal(map[string]any{"facts": []map[string]string{{"key": "plan " + said[1], "value": fmt.Sprint("was said when asked the time ", n), "quote": said[0]}}})
	if err != nil {
		panic(err) // these maps always marshal
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := sse{w: w, r: r}
	s.text(string(learned))
	s.end("stop")
}

// times is how often it was asked about a plan.
func (l *learner) times(tag string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked[tag]
}

// newLearning is a visitor whose runs are learned from.
func newLearning(t testing.TB, l *learner) *visitor {
	v := &visitor{random: seeded(t)}
	v.site = newSite(t, withoutSandbox, fmt.Sprintf(`
provider "learner" {
  plugin   = "openai"
  base_url = %q
}
plugin "memory" {
  grants      = ["entries", "tools", "models"]
  models      = ["learner/learner"]
  learn_model = "learner/learner"
}
`, l.server.URL+"/v1"))
	v.binary = withFailpoints(t)
	return v
}

// learningScene gives a prompt, leaves the run, and waits until the memory has heard that it rests.
func learningScene(l *learner) scenario {
	return scenario{act: func(v *visitor, j *job) error {
		if err := actRest(v, j); err != nil {
			return err
		}
		ctx, cancel := actTime()
		defer cancel()
		for {
			rows, err := v.restRows(ctx, j)
			if err != nil || rows[sdk.KindRestHeard] == 2 { // the ledger hears it, too
				return err
			}
			if err := pause(ctx, 2*time.Millisecond); err != nil {
				return err
			}
		}
	}, check: func(v *visitor, j *job) { checkLearned(v, j, l) }}
}

// checkLearned holds that a rest was learned from once, however often a model was asked.
func checkLearned(v *visitor, j *job, l *learner) {
	v.t.Helper()
	page, err := v.client.Entries(context.Background(), rpc.EntriesParams{Owner: sdk.LocalOwner, Pattern: fact.Every, Limit: 1000})
	if err != nil {
		v.t.Fatal(err)
	}
	var learned []string
	for _, e := range page.Entries {
		if f, is := fact.Of(e); !is {
			v.t.Errorf("%+v is no fact", e)
		} else if f.Key == "plan "+j.tag {
			learned = append(learned, f.String())
		}
	}
	if marks := v.entries(j.run, "learned://*"); len(learned) != 1 || len(marks) != 1 || l.times(j.tag) > 3 {
		v.t.Errorf("asked %d times, %s taught %q, with %d marks", l.times(j.tag), j.tag, learned, len(marks))
	}
	if rows, err := v.restRows(context.Background(), j); err != nil || rows[sdk.KindRunRested] != 1 || rows[sdk.KindRestHeard] != 2 {
		v.t.Errorf("the run %s has the rows %v of its rest (%v)", j.tag, rows, err)
	}
}

// TestLearningKilled kills daemons before, in and after the completion by which a rest is learned from: it is learned from once.
//
// Around how many commits, eachCommitOr says.
func TestLearningKilled(t *testing.T) {
	t.Parallel()
	l := newLearner(t)
	v := newLearning(t, l)
	scene := learningScene(l)
	for _, point := range []failpoint.Name{failpoint.RestBefore, failpoint.RestAfter, failpoint.RestTelling, failpoint.RestTold} {
		v.visitScene(scene, point)
	}

	// In the completion.
	l.mu.Lock()
	l.holds = true
	l.mu.Unlock()
	v.jobs = nil
	v.begin(scene)
	v.up()
	struck := make(chan error, 1)
	go func() {
		select {
		case <-l.held:
			struck <- v.daemon.cmd.Process.Kill()
		case <-time.After(patience):
			struck <- fmt.Errorf("no model was asked within %v", patience)
		}
	}()
	if err := scene.act(v, v.jobs[0]); err == nil {
		t.Error("the daemon that was killed in the completion has heard of the rest")
	}
	if err := <-struck; err != nil {
		t.Fatal(err)
	}
	if !v.daemon.gone(patience) {
		t.Fatalf("the daemon lives\n%s", v.evidence())
	}
	_ = v.client.Close()
	v.end("in the completion")
	if tag := v.jobs[0].tag; l.times(tag) != 2 {
		t.Errorf("%s was asked about %d times", tag, l.times(tag))
	}

	every := eachCommitOr(4)
	around := v.around(scene, 1+v.random.IntN(every), every)
	t.Logf("killed around %d commits", around)
	if around < 2 {
		t.Error("there are fewer commits than this does")
	}
	v.leaveAll()
}
