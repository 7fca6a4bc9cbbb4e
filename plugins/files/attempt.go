package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
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
// nobody heard, can be answered: what it did is told then, and can be taken back, whoever asks for it again. It has contents of the
// person's own file, as the store of replaced contents does, and is kept as these are: compressed, where nobody else may enter, and
// with no secret taken out.
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

// keep keeps one, in the place of the oldest where they are many. What cannot be kept must not be made: nobody could tell of it.
func (a attempts) keep(x attempt) error {
	if a.dir == "" {
		return nil
	}
	text, err := json.Marshal(x)
	if err == nil {
		err = os.MkdirAll(a.dir, 0o700)
	}
	var packed bytes.Buffer
	if err == nil {
		to := gzip.NewWriter(&packed)
		_, err = to.Write(text)
		err = errors.Join(err, to.Close(), os.WriteFile(filepath.Join(a.dir, a.call), packed.Bytes(), 0o600))
	}
	if err != nil {
		return sdk.Errorf(sdk.Unavailable, "what the call is about to change cannot be kept, so nothing was changed; look for room and rights in the daemon's data directory: %w", err)
	}
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
	return nil
}

// kept is that of the call at work. The error is [fs.ErrNotExist] where it has none.
func (a attempts) kept() (x attempt, err error) {
	if a.dir == "" {
		return x, fs.ErrNotExist
	}
	f, err := os.Open(filepath.Join(a.dir, a.call))
	if err != nil {
		return x, err
	}
	defer closeRead(f)
	from, err := gzip.NewReader(f)
	if err != nil {
		return x, err
	}
	return x, json.NewDecoder(from).Decode(&x)
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
		data, err := json.Marshal(got.data)
		if err != nil {
			return err
		}
		x := attempt{Path: pl.path, After: hashOf(text), Text: got.text, Data: data, Changes: now.list}
		if before != nil {
			x.Before = before.sum
		}
		return p.attempts.keep(x)
	}
	err := pl.replace(was, filling(text))
	if err == nil {
		p.changes = now
	}
	return err
}

// before is the answer of the call where it was made already, by somebody who is gone.
func (p *project) before() (got answer, made bool) {
	x, err := p.attempts.kept()
	if err != nil || p.sum(x.Path) != x.After {
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
	x, err := kept.kept()
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("nothing is kept of it")
	}
	if err != nil {
		return sdk.ToolResult{}, unknown(err)
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
