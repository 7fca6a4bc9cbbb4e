package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
)

// lender counts loans.
type lender struct {
	mu    sync.Mutex
	pids  []int
	last  Loan
	now   int
	most  int
	given int
}

func (l *lender) lend(loan Loan) (channel.Access, func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pids, l.last = append(l.pids, loan.PID), loan
	l.given++
	l.now++
	l.most = max(l.most, l.now)
	return channel.Access{Socket: "/s", Token: "token", Projects: loan.Projects}, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.now--
	}
}

func (l *lender) counts() (given, now, most int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.given, l.now, l.most
}

// chat is a spec of a channel that works as the mode says, and the file where it
// tells what it does.
func chat(t *testing.T, mode, mark string) (inspect.Spec, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "told")
	s := spec("chat", "")
	s.Env["FAULT_CHANNEL"], s.Env["MARK"] = mode+" "+file, mark
	s.Grants, s.Projects = append(s.Grants, sdk.GrantChannel), []string{"/p/one", "/p/two"}
	return s, file
}

func lending(l *lender) func(*Config) {
	return func(c *Config) { c.Lend, c.ChannelWait = l.lend, 10*time.Millisecond }
}

func (r *rig) detail() string { return r.Plugins()[0].Detail }

func (r *rig) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain: %s; the channel says %q", what, r.detail())
		}
	}
}

// told is what the channels did, a word and a mark for each.
func told(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", ", ")
}

func TestChannelIsServedAndServedAgain(t *testing.T) {
	loans := &lender{}
	s, _ := chat(t, "works", "")
	r := started(t, lending(loans), s)
	r.until(t, "it is connected", func() bool { return r.detail() == "connected for /p/one /p/two" })
	pid := r.Plugins()[0].PID
	if given, now, _ := loans.counts(); given != 1 || now != 1 || loans.pids[0] != pid {
		t.Errorf("lent %d times, %d now, to %v, and the plugin is %d", given, now, loans.pids, pid)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.until(t, "it is served again after a crash", func() bool {
		given, now, _ := loans.counts()
		return given == 2 && now == 1 && strings.HasPrefix(r.detail(), "connected")
	})
	if _, _, most := loans.counts(); most != 1 {
		t.Errorf("%d loans at once", most)
	}
}

// TestChannelWithoutProjects has an empty folder, which nobody else enters.
func TestChannelWithoutProjects(t *testing.T) {
	loans, dir := &lender{}, filepath.Join(t.TempDir(), "channels")
	s, _ := chat(t, "works", "")
	s.Projects = nil
	r := started(t, func(c *Config) { lending(loans)(c); c.ChannelDir = dir }, s)
	r.until(t, "it is connected", func() bool { return r.detail() == "connected for "+filepath.Join(dir, "chat") })
	if info, err := os.Stat(filepath.Join(dir, "chat")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder: %v, %v", info, err)
	}
}

// TestWhoAnswersByAChannel: nobody without the grant, nor where nothing vouches for the plugin's file, which is told.
func TestWhoAnswersByAChannel(t *testing.T) {
	loans := &lender{}
	r := newRig(t, lending(loans))
	s, _ := chat(t, "works", "")
	s.Answers = []string{"web_fetch"}
	may := func() bool {
		loans.mu.Lock()
		defer loans.mu.Unlock()
		tools, may := loans.last.Answers()
		if len(tools) != 1 || tools[0] != "web_fetch" {
			t.Errorf("they may accept calls of %v", tools)
		}
		return may
	}
	for _, d := range r.start(t.Context(), []inspect.Spec{s}) {
		t.Errorf("without the grant: %s", d.Summary)
	}
	r.until(t, "it is connected", func() bool { given, _, _ := loans.counts(); return given == 1 })
	if may() {
		t.Error("they may without the grant")
	}
	s.Grants, s.Digest = append(s.Grants, sdk.GrantAnswers), "granted"
	said := r.Apply(t.Context(), []inspect.Spec{s})
	if len(said) != 1 || !strings.Contains(said[0].Summary, "nobody answers by its channel") || !strings.Contains(said[0].Detail, "bothy plugins lock chat") {
		t.Errorf("without a pin: %v", said)
	}
	r.until(t, "it is connected again", func() bool { given, _, _ := loans.counts(); return given == 2 })
	if may() {
		t.Error("they may without a pin")
	}
	s.SHA256, s.Digest = sha256Of(t, faultBinary), "pinned"
	r.Apply(t.Context(), []inspect.Spec{s})
	r.until(t, "they may", may)
}

// TestChannelThatEnds: it is opened again, people see why, and the rest of the
// plugin works.
func TestChannelThatEnds(t *testing.T) {
	loans := &lender{}
	s, _ := chat(t, "fails", "")
	r := started(t, lending(loans), s)
	r.until(t, "it was tried three times", func() bool { given, _, _ := loans.counts(); return given >= 3 })
	r.until(t, "people see why", func() bool {
		return strings.Contains(r.detail(), "is opened again in") && strings.Contains(r.detail(), "the bot's token [2J is wrong")
	})
	r.mustCall(t, "about", ``)
	if st := r.Plugins()[0]; st.State != Ready || st.Restarts != 0 {
		t.Errorf("%+v", st)
	}
}

// TestOneFrontEndAtATime: the one with the old block has ended when the one
// with the new block begins, calls that still run or not.
func TestOneFrontEndAtATime(t *testing.T) {
	loans := &lender{}
	s, file := chat(t, "works", "a")
	r := started(t, lending(loans), s)
	r.until(t, "it is connected", func() bool { return strings.HasPrefix(r.detail(), "connected") })
	release := r.hold(t)
	for _, mark := range []string{"b", "c"} {
		next := s
		next.Env = map[string]string{"FAULT_CHANNEL": s.Env["FAULT_CHANNEL"], "MARK": mark}
		if a := r.replace(t, next); !a.Switched() {
			t.Fatalf("%+v", a)
		}
	}
	r.until(t, "the last one works", func() bool { return strings.HasSuffix(told(t, file), "begin c 5") })
	if _, err := release(); err != nil {
		t.Errorf("the call that ran: %v", err)
	}
	r.CloseChannels()
	want := []string{"begin a 5, end a 5, begin b 5, end b 5, begin c 5, end c 5", "begin a 5, end a 5, begin c 5, end c 5"} // b may have been exchanged before it began
	if got := told(t, file); got != want[0] && got != want[1] {
		t.Errorf("they worked as %s", got)
	}
	if _, now, most := loans.counts(); now != 0 || most != 1 {
		t.Errorf("%d loans left, %d at once", now, most)
	}
	if a := r.replace(t, s); !a.Switched() {
		t.Errorf("%+v", a)
	}
	if _, now, _ := loans.counts(); now != 0 {
		t.Error("a channel began after CloseChannels")
	}
}

// TestDeafChannel: one that does not end is killed, and only then is there
// another.
func TestDeafChannel(t *testing.T) {
	loans := &lender{}
	s, file := chat(t, "deaf", "a")
	r := started(t, func(c *Config) { lending(loans)(c); c.CancelGrace = 100 * time.Millisecond }, s)
	r.until(t, "it listens to nobody", func() bool { return r.detail() == "listening to nobody" })
	old := r.Plugins()[0].PID
	next, _ := chat(t, "works", "b")
	next.Env["FAULT_CHANNEL"] = "works " + file
	if a := r.replace(t, next); !a.Switched() {
		t.Fatalf("%+v", a)
	}
	r.until(t, "the new one works", func() bool { return strings.HasPrefix(r.detail(), "connected") })
	if err := syscall.Kill(old, 0); err == nil {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", old)) // it may be gone by now
		if fields := strings.Fields(string(text)); len(fields) > 2 && fields[2] != "Z" {
			t.Errorf("the old one, %d, is there: %s", old, text)
		}
	}
	if _, _, most := loans.counts(); most != 1 {
		t.Errorf("%d loans at once", most)
	}
}

// TestChannelThatIsNotLetIn: one diagnostic says all that it lacks.
func TestChannelThatIsNotLetIn(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*inspect.Spec)
		lacks  []string
	}{
		"no grant": {func(s *inspect.Spec) { s.Grants = []string{sdk.GrantEntries} }, []string{`grants = ["entries", "channel"]`}},
	} {
		t.Run(name, func(t *testing.T) {
			loans := &lender{}
			r := newRig(t, lending(loans))
			s, file := chat(t, "works", "")
			c.change(&s)
			found := r.start(context.Background(), []inspect.Spec{s})
			if len(found) != 1 || !found[0].Warning() || !strings.Contains(found[0].Summary, "its channel is not opened") {
				t.Fatalf("%v", found)
			}
			for _, l := range c.lacks {
				if !strings.Contains(found[0].Detail, l) {
					t.Errorf("%s does not say %s", found[0].Detail, l)
				}
			}
			r.mustCall(t, "about", ``)
			if given, _, _ := loans.counts(); given != 0 || told(t, file) != "" {
				t.Errorf("it was lent %d times, and did %q", given, told(t, file))
			}
		})
	}
}
