package host

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
	"github.com/bothyd/bothy/sdk/plugin"
)

// Lend lends the process of a plugin what it needs as a channel, until end is
// called.
type Lend func(Loan) (access channel.Access, end func())

// Loan is what a channel may do with what it is lent.
type Loan struct {
	PID      int // of the plugin's process
	Instance string
	Projects []string
	Schemes  []string // of entries that it keeps for itself
	// Answers says, at any time, whether people may answer by the channel, and patterns of the tools beyond the
	// workspace whose calls they may accept.
	Answers func() (tools []string, may bool)
}

// The rule by which a channel that ended is opened again: the waits double from
// Config.ChannelWait to the longest, and begin anew when it had lasted.
const (
	longestChannelWait = time.Minute
	lastedChannel      = time.Minute
)

// channelServer keeps the channel of one link open. A link has at most one, and an
// instance never two that work: a successor begins when the one before it has
// ended.
type channelServer struct {
	l        *link
	s        *Supervisor
	projects []string
	answers  func() (tools []string, may bool)
	ending   context.Context // ends when it is to end, in order
	end      context.CancelFunc
	done     chan struct{} // closed when it has ended
}

// openChannel begins to serve the channel of a link, if it has one and its block
// lets it. It is called by the instance's goroutine.
func (i *instance) openChannel(l *link) {
	spec, before := i.current(), i.channel
	if i.s.cfg.Lend == nil || !isChannel(l.manifest.Load()) || !spec.Granted(sdk.GrantChannel) {
		return
	}
	i.s.mu.Lock()
	defer i.s.mu.Unlock()
	if i.s.channels.Err() != nil {
		return // the daemon stops
	}
	f := &channelServer{l: l, s: i.s, projects: i.s.projectsOf(spec), answers: func() ([]string, bool) { return i.answers(l) }, done: make(chan struct{})}
	f.ending, f.end = context.WithCancel(i.s.channels)
	i.channel, l.channelServer, l.channel = f, f, channel.NewClient(l.conn)
	i.s.fronts.Add(1)
	l.wg.Go(func() {
		defer i.s.fronts.Done()
		defer close(f.done)
		if before != nil {
			before.close()
		}
		f.keep()
	})
}

// answers says whether people may answer by the channel of a link: its block says so, and something vouches for its
// file. Of a process that its author runs nothing does.
func (i *instance) answers(l *link) (tools []string, may bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.spec.Answers, i.spec.Granted(sdk.GrantAnswers) && l.pin != "" && !l.attached
}

// projectsOf are the projects that a channel works in: those of its block, or a folder of the daemon's for it.
func (s *Supervisor) projectsOf(spec inspect.Spec) []string {
	if len(spec.Projects) > 0 {
		return spec.Projects
	}
	return []string{filepath.Join(s.cfg.ChannelDir, spec.Instance)}
}

// close ends a channel in order and returns when it has ended.
func (f *channelServer) close() {
	if f != nil {
		f.end()
		<-f.done
	}
}

// keep opens the channel, and opens it again when it ends by itself.
func (f *channelServer) keep() {
	wait := time.Duration(0)
	for f.ending.Err() == nil && f.l.alive.Err() == nil {
		f.l.say("opening the channel")
		began := time.Now()
		err := f.serve()
		if f.ending.Err() != nil || f.l.alive.Err() != nil {
			break
		}
		if time.Since(began) >= lastedChannel {
			wait = 0
		}
		wait = min(max(2*wait, f.l.cfg.ChannelWait), longestChannelWait)
		pause, why := sdk.Jittered(wait), cmp.Or(reason(err), "it gave no reason")
		f.l.log.Warn("the channel ended and is opened again", "reason", why, "wait", pause)
		f.l.say(fmt.Sprintf("the channel ended and is opened again in %v: %s", pause.Round(time.Second/10), why))
		select {
		case <-time.After(pause):
		case <-f.ending.Done():
		case <-f.l.alive.Done():
		}
	}
	f.l.say("")
}

// serve lasts as long as one stream, with a loan of its own.
func (f *channelServer) serve() error {
	for _, p := range f.projects {
		if filepath.Dir(p) != f.l.cfg.ChannelDir {
			continue
		}
		if err := os.MkdirAll(p, 0o700); err != nil {
			return fmt.Errorf("make the folder of the channel, whose block names no projects: %w", err)
		}
	}
	access, takeBack := f.l.cfg.Lend(Loan{PID: f.l.proc.PID(), Instance: f.l.instance, Projects: f.projects, Schemes: f.keeps(), Answers: f.answers})
	defer takeBack()
	var err error
	if access.Socket, err = f.l.walls.Reach(access.Socket, f.l.proc.Dir); err != nil {
		return fmt.Errorf("let the channel reach the daemon's socket: %w", err)
	}
	return f.l.guarded(f.ending, "", f, func(rpc context.Context) error { return f.l.channel.Serve(rpc, access, f.l.say) })
}

// keeps are the schemes of the entries that the channel keeps for itself: those of the plugin that clients write, and that
// others do not see.
func (f *channelServer) keeps() (names []string) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	for _, x := range f.l.manifest.Load().Schemes {
		if f.s.schemes[x.Name].instance == f.l.instance && cmp.Or(x.Scope, "run") == "run" && x.Admits(sdk.WriterClient) {
			names = append(names, x.Name)
		}
	}
	return names
}

// Cancel has the plugin end its channel. One that cannot be asked has its stream cut; one
// that does not end is killed, for its successor must not work beside it.
func (f *channelServer) Cancel(ctx context.Context, _ string) error {
	err := f.l.channel.Cancel(ctx)
	if err != nil && ctx.Err() == nil {
		return status.Error(codes.Unimplemented, err.Error())
	}
	return err
}

// CloseChannels ends every channel in order, and none begins any more. It
// returns when they have ended, at most Config.CancelGrace later.
func (s *Supervisor) CloseChannels() {
	s.mu.Lock()
	s.endChannels()
	s.mu.Unlock()
	s.fronts.Wait()
}

func isChannel(m *sdk.Manifest) bool { return slices.Contains(m.Kinds, plugin.KindChannel) }

// unopened says why the channel of a plugin is not opened, or why nobody answers by it though its block says so.
func unopened(spec inspect.Spec, m *sdk.Manifest, pin inspect.Pin) []inspect.Diagnostic {
	if isChannel(m) && spec.Granted(sdk.GrantChannel) && spec.Granted(sdk.GrantAnswers) && pin == "" {
		return []inspect.Diagnostic{spec.Warn("nobody answers by its channel", "Its block grants \""+sdk.GrantAnswers+
			"\", and nothing vouches for its file. If it is what you want, call "+spec.LockVerb()+", or write sha256 into its block.")}
	}
	var lacks []string
	if !spec.Granted(sdk.GrantChannel) {
		missing := slices.DeleteFunc(slices.Clone(m.Grants), func(g string) bool { return spec.Granted(g) || g == sdk.GrantAnswers }) // in one line with what else it needs
		if !slices.Contains(missing, sdk.GrantChannel) {
			missing = append(missing, sdk.GrantChannel)
		}
		lacks = append(lacks, "grants = "+callback.Written(spec.Grants, missing...))
	}
	if !isChannel(m) || len(lacks) == 0 {
		return nil
	}
	return []inspect.Diagnostic{spec.Warn("its channel is not opened",
		"It is a front end: what people write there becomes work of agents here. If you want that, write "+strings.Join(lacks, " and ")+" in its block.")}
}

// longestStatus is how much of a status people are shown, in characters.
const longestStatus = 200

// say keeps what a plugin says of itself.
func (l *link) say(text string) {
	line := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf) {
			return ' '
		}
		return r
	}, text))
	if len(line) > longestStatus {
		line = append(line[:longestStatus-1], '…')
	}
	text = string(line)
	l.detail.Store(&text)
}
