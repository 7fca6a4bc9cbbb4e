package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

const (
	// mostJobs is how many commands of a run may run in the background.
	mostJobs = 4
	// mostEnded is how many that have ended are still known.
	mostEnded = 8
	// mostUnread is how much is kept of what a background command prints before it is
	// read; the oldest is dropped.
	mostUnread = 1 << 20
)

// job is a command that runs in the background, or has.
type job struct {
	id      string
	runDir  string // of its run
	command string
	began   time.Time
	network bool // it was started with one
	gone    bool // it was ended before it was started
	*sandbox.Background

	mu      sync.Mutex
	told    bool // its end
	unread  []byte
	dropped int64         // bytes that nobody read in time
	news    chan struct{} // closed and made anew with each output
}

func newJob(command, runDir string, network bool) *job {
	return &job{command: command, runDir: runDir, network: network, began: time.Now(), news: make(chan struct{})}
}

// add is the sink of the command.
func (j *job) add(_ int, data []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.unread = append(j.unread, data...)
	if over := len(j.unread) - mostUnread; over > 0 {
		j.unread = slices.Delete(j.unread, 0, over)
		j.dropped += int64(over)
	}
	close(j.news)
	j.news = make(chan struct{})
}

// named is a command as a list shows it.
func (j *job) named() string { return j.id + ": " + firstLine(j.command) }

// endTold notes that its end was told.
func (j *job) endTold() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.told = true
}

// untold is how a command ended of which nobody was told that, for the list of those that
// end with the process; empty when somebody was.
func (j *job) untold() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.told {
		return ""
	}
	how := "it could not go on"
	if result, err := j.Result(); err == nil {
		how = fmt.Sprintf("exit status %d", result.ExitCode)
	}
	return fmt.Sprintf("%s (which had ended before: %s; %d bytes that it printed were not read)", j.named(), how, int64(len(j.unread))+j.dropped)
}

// read takes what was printed since it was last read.
func (j *job) read() (text string, dropped int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	text, dropped = string(j.unread), j.dropped
	j.unread, j.dropped = nil, 0
	return text, dropped
}

// await waits until there is something to read, the command has ended, or ctx does.
func (j *job) await(ctx context.Context) {
	j.mu.Lock()
	unread, news := len(j.unread), j.news
	j.mu.Unlock()
	if unread > 0 {
		return
	}
	select {
	case <-news:
	case <-j.Done():
	case <-ctx.Done():
	}
}

// ended says whether no process of the command lives any more.
func (j *job) ended() bool {
	select {
	case <-j.Done():
		return true
	default:
		return false
	}
}

// jobs are the background commands of all runs.
type jobs struct {
	mu    sync.Mutex
	runs  map[string][]*job // the oldest first
	count map[string]int    // of a run, those that were ever started
}

// book gives a new command a place and a name, unless the run has too many. Who starts
// it in vain takes it away again.
func (js *jobs) book(run string, j *job) error {
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.runs == nil {
		js.runs, js.count = make(map[string][]*job), make(map[string]int)
	}
	running, ended := 0, 0
	for _, other := range js.runs[run] {
		if other.Background != nil && other.ended() {
			ended++
		} else {
			running++
		}
	}
	if running >= mostJobs {
		return sdk.Errorf(sdk.Conflict, "this run has %d commands in the background, which is all that it may have: end one with bash_stop first (%s)", running, strings.Join(js.names(run), ", "))
	}
	if ended >= mostEnded {
		i := slices.IndexFunc(js.runs[run], func(other *job) bool { return other.Background != nil && other.ended() })
		js.runs[run] = slices.Delete(js.runs[run], i, i+1)
	}
	js.count[run]++
	j.id = fmt.Sprintf("bg-%d", js.count[run])
	js.runs[run] = append(js.runs[run], j)
	return nil
}

// drop takes a command away that was not started.
func (js *jobs) drop(run string, j *job) {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.runs[run] = slices.DeleteFunc(js.runs[run], func(other *job) bool { return other == j })
}

// started completes a command that was booked, and answers false for one that was to end
// meanwhile.
func (js *jobs) started(j *job, b *sandbox.Background) bool {
	js.mu.Lock()
	defer js.mu.Unlock()
	if j.gone {
		return false
	}
	j.Background = b
	return true
}

// names are those of a run that still run; who has mu calls it.
func (js *jobs) names(run string) (names []string) {
	for _, j := range js.runs[run] {
		if j.Background == nil || !j.ended() {
			names = append(names, j.named())
		}
	}
	return names
}

// find is a command of a run by its name; without a name it is the only one that runs, or the only one.
func (js *jobs) find(run, runDir, id string) (*job, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	var found, running []*job
	for _, j := range js.runs[run] {
		if j.Background == nil || j.id != id && id != "" {
			continue
		}
		if found = append(found, j); !j.ended() {
			running = append(running, j)
		}
	}
	switch {
	case len(running) == 1:
		return running[0], nil
	case len(found) == 1:
		return found[0], nil
	case len(js.runs[run]) == 0:
		if names := lost(runDir); names != "" {
			return nil, sdk.Errorf(sdk.NotFound, "no command of this run is in the background: when the bash plugin was changed or the daemon stopped, these went with it: %s; start one again with bash and background = true", names)
		}
		return nil, sdk.Errorf(sdk.NotFound, "no command of this run is in the background: it ends with the work on the prompt that started it, and with the daemon; start it again with bash and background = true")
	}
	return nil, sdk.Errorf(sdk.NotFound, "name one of the background commands of this run by its id; those that run: %s", strings.Join(js.names(run), ", "))
}

// stopAll ends the commands of a run that fit, and waits until they have ended.
func (js *jobs) stopAll(ctx context.Context, run string, fits func(*job) bool) {
	js.mu.Lock()
	var ending []*job
	for _, j := range js.runs[run] {
		switch {
		case !fits(j):
		case j.Background == nil:
			j.gone = true // who starts it ends it
			js.runs[run] = slices.DeleteFunc(slices.Clone(js.runs[run]), func(other *job) bool { return other == j })
		default:
			ending = append(ending, j)
		}
	}
	js.mu.Unlock()
	for _, j := range ending {
		j.Stop()
	}
	for _, j := range ending {
		select {
		case <-j.Done():
		case <-ctx.Done():
			return
		}
	}
}

// forget ends all commands of a run and knows them no more.
func (js *jobs) forget(ctx context.Context, run string) {
	js.stopAll(ctx, run, func(*job) bool { return true })
	js.mu.Lock()
	defer js.mu.Unlock()
	delete(js.runs, run)
}

// lostName is the file, in a run's folder, of the background commands that were ended with
// the process of the plugin that ran them, or before it unread, one a line: the next result
// tells of them.
const lostName = "background.ended"

// lose ends all commands of a run, because this process is about to end, and notes those
// that still ran, or whose end nobody was told of.
func (js *jobs) lose(ctx context.Context, run string) (err error) {
	js.mu.Lock()
	var names []string
	for _, j := range js.runs[run] {
		if j.Background == nil || !j.ended() {
			names = append(names, j.named())
		} else if how := j.untold(); how != "" {
			names = append(names, how)
		}
	}
	for _, j := range js.runs[run] {
		if len(names) > 0 && filepath.IsAbs(j.runDir) {
			err = os.WriteFile(filepath.Join(j.runDir, lostName), []byte(strings.Join(names, "\n")), 0o600)
			break
		}
	}
	js.mu.Unlock()
	js.forget(ctx, run)
	return err
}

// loseAll is lose for all runs.
func (js *jobs) loseAll(ctx context.Context) (err error) {
	js.mu.Lock()
	runs := slices.Collect(maps.Keys(js.runs))
	js.mu.Unlock()
	for _, run := range runs {
		err = errors.Join(err, js.lose(ctx, run))
	}
	return err
}

// lost are the commands of a run that an earlier process noted in its folder, told once;
// empty when there are none.
func lost(runDir string) string {
	file := filepath.Join("/", runDir, lostName)
	names, err := os.ReadFile(file)
	if err != nil || os.Remove(file) != nil {
		return ""
	}
	return strings.ReplaceAll(string(names), "\n", ", ")
}

// firstLine is a command as a list shows it.
func firstLine(command string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(command), "\n")
	if short := sdk.Head(line, 60); short != line || rest != "" {
		return short + "..."
	}
	return line
}
