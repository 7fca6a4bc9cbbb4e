package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// key is the key of a submission among those of all clients. A channel chooses it among those of one person or group.
// Where it chooses none, the message that it was is the key: one that was taken is not taken again, whatever it says by
// now, since people edit messages, and a channel may put several into one prompt or name another run the next time.
func (s Submission) key() (key string, byMessage bool) {
	if s.Origin.Channel == "" {
		return s.Key, false
	}
	owner := s.Origin.Owner
	if s.From != nil {
		owner = sdk.OwnerOf(s.Origin.Channel, *s.From, sdk.Person{})
	}
	key, byMessage = s.Key, s.Key == "" && s.From != nil && s.From.Message != ""
	if byMessage {
		key = url.PathEscape(s.From.Thread) + "/" + url.PathEscape(s.From.Message) // no key that is chosen has the slash
	}
	if key == "" {
		return "", false
	}
	return s.Origin.Channel + " " + owner + " " + key, byMessage
}

// holdKey waits until nobody else submits under a key, and holds it until done is
// called: the look whether it was given and the queueing are one step to others.
func (e *Engine) holdKey(ctx context.Context, key string) (done func(), err error) {
	if key == "" {
		return func() {}, nil
	}
	mine := make(chan struct{})
	for {
		other, held := e.keys.LoadOrStore(key, mine)
		if !held {
			return func() { e.keys.Delete(key); close(mine) }, nil
		}
		select {
		case <-other.(chan struct{}):
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another submission of the prompt: %w", ctx.Err())
		}
	}
}

// given finds what became of a submission that was durable before, here or in an
// earlier daemon: its client got no answer and sent it again. The connection that
// answers what is proposed is then the one that follows the run.
func (e *Engine) given(ctx context.Context, s Submission) (Accepted, bool, error) {
	if s.Key == "" {
		return Accepted{}, false, nil
	}
	l, seq, err := e.cfg.Store.Given(ctx, s.Key)
	if sdk.OutcomeOf(err) == sdk.NotFound {
		return Accepted{}, false, nil
	}
	if err != nil {
		return Accepted{}, false, err
	}
	run, err := e.cfg.Store.Run(ctx, l.Run)
	if err != nil {
		return Accepted{}, false, err
	}
	if !s.byMessage {
		if err := e.sameAsGiven(ctx, s, run, l); err != nil {
			return Accepted{}, false, err
		}
	}
	loops, err := e.cfg.Store.Loops(ctx, l.Run)
	if err != nil {
		return Accepted{}, false, err
	}
	a := Accepted{Run: run, Loop: l, Seq: seq, Model: l.Model, Mode: optionsOf(l).Mode}
	for _, other := range loops {
		if isOpen(other) && other.Sequence < l.Sequence {
			a.Ahead++
		}
	}
	return a, true, nil
}

// sameAsGiven refuses a submission whose key another prompt has.
func (e *Engine) sameAsGiven(ctx context.Context, s Submission, run sdk.Run, l sdk.Loop) error {
	project, err := e.openProject(ctx, s.Project)
	if err != nil {
		return err
	}
	named := run
	if s.Fork {
		if named, err = e.cfg.Store.Run(ctx, run.Parent); err != nil {
			return err
		}
	}
	pieces := e.cfg.Redacting() // as the store has it
	prompt := pieces.Write(s.Prompt) + pieces.End()
	if project.ID != run.Project || s.Run != "" && s.Run != named.Alias || l.Prompt != prompt || l.ReadOnly != s.ReadOnly || s.asked.Digest() != optionsOf(l).Plan || !sameFiles(s, optionsOf(l)) {
		return sdk.Errorf(sdk.Conflict, "another prompt was given under the key %s; choose a new one for each prompt", s.Key[strings.LastIndexByte(s.Key, ' ')+1:])
	}
	return nil
}

// sameFiles reports whether a prompt has the files and images of one that was given, and its schema. Images of files are behind those
// that were given with it.
func sameFiles(s Submission, was loopOptions) bool {
	if !bytes.Equal(s.Schema, was.Schema) || !slices.Equal(s.Attachments, was.Attachments) || len(was.Media) < len(s.Media) || len(s.Attachments) == 0 && len(was.Media) > len(s.Media) {
		return false
	}
	for i, m := range s.Media {
		data, err := base64.StdEncoding.DecodeString(m.Data)
		if err != nil || sdk.ImagePath(base64.StdEncoding.EncodeToString(data)) != was.Media[i].URI {
			return false
		}
	}
	return true
}
