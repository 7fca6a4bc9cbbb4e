package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/lock"
)

// attempt is what a call is about to make of a file. It is kept from before it is made, so that a call which was cut short, whose end
// nobody heard, can be answered: what it did is told then, and can be taken back, whoever asks for it again.
type attempt struct {
	Path    string           `json:"path"`
	Before  string           `json:"before"` // the hash of the contents; empty where nothing was
	After   string           `json:"after"`
	Text    string           `json:"text"` // of the answer
	Data    json.RawMessage  `json:"data"`
	Changes []sdk.FileChange `json:"changes"`
}

// attempts are those of a run. The zero value keeps none.
type attempts struct {
	dir  string // in the run's folder
	call string // at work
}

// mostAttempts is how many of a run are kept. A run makes one call after the other, and what clients call beside each other are few.
const mostAttempts = 8

func attemptsOf(call sdk.Invocation) attempts {
	if !filepath.IsAbs(call.RunDir) || call.CallID == "" {
		return attempts{}
	}
	return attempts{filepath.Join(call.RunDir, "attempts"), hashOf(call.CallID)}
}

// keep keeps one, in the place of the oldest where they are many. Nothing fails because it cannot: such a call is one of which
// nobody knows what it came to, if it is cut short.
func (a attempts) keep(x attempt) {
	text, err := json.Marshal(x)
	if a.dir == "" || err != nil || os.MkdirAll(a.dir, 0o700) != nil {
		return
	}
	_ = os.WriteFile(filepath.Join(a.dir, a.call), text, 0o600)
	names, _ := os.ReadDir(a.dir)
	var all []fs.FileInfo
	for _, name := range names {
		if info, err := name.Info(); err == nil {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, info := range all[min(len(all), mostAttempts):] {
		_ = os.Remove(filepath.Join(a.dir, info.Name()))
	}
}

// kept is that of the call at work.
func (a attempts) kept() (x attempt, is bool) {
	if a.dir == "" {
		return x, false
	}
	text, err := os.ReadFile(filepath.Join(a.dir, a.call))
	return x, err == nil && json.Unmarshal(text, &x) == nil
}

// put gives the file at a place new contents, for which got is the answer, and tells of it.
func (p *project) put(pl *place, was fs.FileInfo, before *pathState, text string, got answer) error {
	now := changes{slices.Clone(p.changes.list), p.changes.kept}
	now.wrote(pl.path, before, text)
	still := pl.still
	pl.still = func() error {
		if still != nil {
			if err := still(); err != nil {
				return err
			}
		}
		if data, err := json.Marshal(got.data); err == nil {
			x := attempt{Path: pl.path, After: hashOf(text), Text: got.text, Data: data, Changes: now.list}
			if before != nil {
				x.Before = before.sum
			}
			p.attempts.keep(x)
		}
		return nil
	}
	err := pl.replace(was, filling(text))
	if err == nil {
		p.changes = now
	}
	return err
}

// before is the answer of the call where it was made already, by somebody who is gone.
func (p *project) before() (got answer, made bool) {
	x, is := p.attempts.kept()
	if !is || p.sum(x.Path) != x.After {
		return answer{}, false
	}
	p.changes = changes{list: x.Changes}
	return answer{text: x.Text, data: x.Data}, true
}

// sum is the hash of a file's contents; empty where there is none.
func (p *project) sum(at string) string {
	f, _, err := openRegular(p.root, at, at)
	if err != nil {
		return ""
	}
	defer closeRead(f)
	body, err := io.ReadAll(io.LimitReader(f, largestFile+1))
	if err != nil || len(body) > largestFile {
		return ""
	}
	return hashOf(string(body))
}

// settle says what a call came to that was cut short. Where its file is neither as it was to become nor as it was, nobody knows.
func settle(ctx context.Context, call sdk.Invocation) (sdk.ToolResult, error) {
	unknown := func(err error) error {
		return sdk.Errorf(sdk.Interrupted, "nobody knows what the call of %s came to: %w", call.Tool, err)
	}
	kept := attemptsOf(call)
	x, is := kept.kept()
	if !is {
		return sdk.ToolResult{}, unknown(errors.New("nothing is kept of it"))
	}
	p, err := openProject(call.Project)
	if err != nil {
		return sdk.ToolResult{}, unknown(err)
	}
	defer p.close()
	unlock, err := lock.Folder(ctx, p.root)
	if err != nil {
		return sdk.ToolResult{}, unknown(err)
	}
	defer unlock()
	p.attempts = kept
	if got, made := p.before(); made {
		return p.done(got)
	}
	if p.sum(x.Path) == x.Before {
		return sdk.Failed(sdk.Errorf(sdk.Interrupted, "the work was cut short before %s was written; nothing was done", shown(x.Path)).Tell("nothing was done: make the call again")), nil
	}
	return sdk.ToolResult{}, unknown(errors.New("somebody else changed " + shown(x.Path) + " since"))
}
