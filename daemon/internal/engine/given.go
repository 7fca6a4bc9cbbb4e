package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// key is the key of a submission among those of all clients. A channel chooses it among its own, such as the number that
// a message has in its conversation.
func (s Submission) key() string {
	switch {
	case s.Key == "" || s.Origin.Channel == "":
		return s.Key
	case s.From == nil:
		return s.Origin.Channel + " " + s.Origin.Owner + " " + s.Key
	}
	return s.Origin.Channel + " " + sdk.OwnerOf(s.Origin.Channel, *s.From, sdk.Person{}) + " " + s.Key
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
	p := placed{}
	if p.run, err = e.cfg.Store.Run(ctx, l.Run); err != nil {
		return Accepted{}, false, err
	}
	if p.project, err = e.openProject(ctx, s.Project); err != nil {
		return Accepted{}, false, err
	}
	named := p.run
	if s.Fork {
		if named, err = e.cfg.Store.Run(ctx, p.run.Parent); err != nil {
			return Accepted{}, false, err
		}
	}
	pieces := e.cfg.Redacting() // as the store has it
	prompt := pieces.Write(s.Prompt) + pieces.End()
	if p.project.ID != p.run.Project || s.Run != "" && s.Run != named.Alias || l.Prompt != prompt || l.ReadOnly != s.ReadOnly || s.asked.Digest() != optionsOf(l).Plan || !sameFiles(s, optionsOf(l)) {
		return Accepted{}, false, sdk.Errorf(sdk.Conflict, "another prompt was given under the key %s; choose a new one for each prompt", s.Key[strings.LastIndexByte(s.Key, ' ')+1:])
	}
	loops, err := e.cfg.Store.Loops(ctx, l.Run)
	if err != nil {
		return Accepted{}, false, err
	}
	a := Accepted{Run: p.run, Loop: l, Seq: seq, Model: l.Model, Mode: optionsOf(l).Mode}
	for _, other := range loops {
		if isOpen(other) && other.Sequence < l.Sequence {
			a.Ahead++
		}
	}
	return a, true, nil
}

// sameFiles reports whether a prompt has the files and images of one that was given, and its schema. Images of files are behind those
// that were given with it.
func sameFiles(s Submission, was loopOptions) bool {
	if !bytes.Equal(s.Schema, was.Schema) || !slices.Equal(s.Attachments, was.Attachments) || len(was.Media) < len(s.Media) || len(s.Attachments) == 0 && len(was.Media) > len(s.Media) {
		return false
	}
	for i, m := range s.Media {
		data, err := base64.StdEncoding.DecodeString(m.Data)
		if err != nil || imagePath(base64.StdEncoding.EncodeToString(data)) != was.Media[i].URI {
			return false
		}
	}
	return true
}
