package builtin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// fileScheme is that of bare paths.
const fileScheme = "file"

const (
	mostOpened = 64 << 20 // bytes of files that some calls read together
	mostShown  = 10 << 20 // of one of them
)

// Files reads the files of projects, whose entries have a body only while a run has them in sight.
type Files interface {
	// Text reads the file of an entry for a run, as it is now. An error is why it may not be seen.
	Text(ctx context.Context, run sdk.Run, path string) (string, sdk.FileFacts, error)
}

// hasFiles reports whether the run has files of its project as entries.
func (p *plan) hasFiles() bool { return p.files != nil && !p.use.Run.Private }

func (x *sight) isFile() bool { return x.there && x.Scheme() == fileScheme }

// facts are what the entry of a file says of it.
func (x *sight) facts() (f sdk.FileFacts) {
	if len(x.Attributes) > 0 {
		_ = json.Unmarshal(x.Attributes, &f) // what cannot be read is not known
	}
	return f
}

// size is that of the text, as far as it is known, in bytes.
func (x *sight) size() int {
	if x.isFile() && x.file == nil {
		return int(min(x.facts().Size, 1<<40))
	}
	return len(x.Body)
}

// read gives the entry of a file the text that the file has; any other is as it is.
func (p *plan) read(x *sight) error {
	if !x.isFile() || x.file != nil {
		return nil
	}
	tooMuch := sdk.Errorf(sdk.Overflow, "the files that fit are more than %d MiB, which is the most that is read at once: narrow the pattern", mostOpened>>20)
	known := min(x.facts().Size, mostShown)
	if p.opened += known; p.opened > mostOpened {
		return tooMuch
	}
	text, facts, err := p.files.Text(p.ctx, p.use.Run, x.Path)
	if err != nil {
		return err
	}
	if p.opened += max(int64(len(text))-known, 0); p.opened > mostOpened { // it grew since it was looked at
		return tooMuch
	}
	x.Body, x.bodied, x.file = p.redact(text), true, &facts
	return nil
}

// searchable gives a file its text for a filter, and leaves out one that has none.
func (p *plan) searchable(x *sight) (bool, error) {
	if x.isFile() && x.facts().Size > mostShown {
		return false, nil
	}
	err := p.read(x)
	if p.opened > mostOpened {
		return false, err
	}
	return err == nil, p.ctx.Err()
}

// show are the writes that make an entry visible. Of a file they keep its text, which is nobody's writing: it is what the
// disk has.
func (p *plan) show(x *sight) ([]sdk.Write, error) {
	if !x.isFile() {
		if x.Visibility == sdk.Visible && x.Version > 0 {
			return nil, nil
		}
		return []sdk.Write{p.look(x.Path, sdk.Visible)}, nil
	}
	hash := x.Hash
	if err := p.read(x); err != nil {
		return nil, err
	}
	if len(x.Body) > mostGotBytes {
		return nil, sdk.Errorf(sdk.Overflow, "%s has %d bytes, and %d is the most at once: read a part of it with line and limit", x.Path, len(x.Body), mostGotBytes)
	}
	if sum := sha256.Sum256([]byte(x.Body)); (x.planned || hash == hex.EncodeToString(sum[:])) && x.Visibility == sdk.Visible && x.Version > 0 {
		return nil, nil
	}
	w := p.write(x.Path)
	w.Writer, w.Body, w.Attributes, w.Visibility = sdk.WriterSystem, &x.Body, x.file.Patch(), sdk.Visible
	return []sdk.Write{w}, nil
}

// showAt are the writes of get, which may name another level: of a file nothing is kept then.
func (p *plan) showAt(level sdk.Visibility, x *sight) ([]sdk.Write, error) {
	if level == "" || level == sdk.Visible {
		return p.show(x)
	}
	if err := p.read(x); err != nil {
		return nil, err
	}
	if x.Visibility == level && x.Version > 0 {
		return nil, nil
	}
	return []sdk.Write{p.look(x.Path, level)}, nil
}

// tokensOf is what a preview says of a file beside the rest.
func tokensOf(e sdk.Entry) string {
	x := sight{Entry: e, there: true}
	if !x.isFile() {
		return ""
	}
	return fmt.Sprintf(" %d tokens", x.facts().Tokens)
}
