package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/png"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestGivenAgain: a prompt that is submitted again under its key is the same loop, in
// this daemon and in the next, whether it still waits or has ended.
func TestGivenAgain(t *testing.T) {
	h := newHouse(t, say("done"), say("done"), say("done"))
	s := Submission{Prompt: "do it once", Key: "k1"}
	first := h.submit(s)
	h.await(first)
	again := func(when string) {
		t.Helper()
		a := h.submit(s)
		if a.Loop.ID != first.Loop.ID || a.Run.ID != first.Run.ID || a.Seq != first.Seq || a.Model != first.Model || a.Mode != first.Mode || a.Ahead != 0 {
			t.Errorf("%s: %+v is not\n%+v", when, a, first)
		}
	}
	again("in the same daemon")
	h.cut()
	h.start()
	again("in the next daemon")
	if a := h.submit(Submission{Prompt: "do it once", Key: "k2"}); a.Loop.ID == first.Loop.ID || a.Run.ID == first.Run.ID {
		t.Errorf("another key is another prompt: %+v", a)
	}
	if a := h.submit(Submission{Prompt: "do it once"}); a.Loop.ID == first.Loop.ID {
		t.Errorf("no key is another prompt: %+v", a)
	}
	h.untilIdle()
}

// TestGivenAtOnce: of submissions at the same time one makes the run and the loop.
func TestGivenAtOnce(t *testing.T) {
	h := newHouse(t, say("done"))
	var all sync.WaitGroup
	got := make([]Accepted, 8)
	for i := range got {
		all.Go(func() {
			var err error
			if got[i], err = h.engine.Submit(context.Background(), Submission{Project: h.project, Prompt: "p", Key: "k"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, a := range got {
		if a.Loop.ID != got[0].Loop.ID || a.Run.ID != got[0].Run.ID || a.Seq != got[0].Seq {
			t.Errorf("%+v is not\n%+v", a, got[0])
		}
	}
	h.untilIdle()
}

// TestGivenWithFiles: a prompt is the same with the same images and files alone.
func TestGivenWithFiles(t *testing.T) {
	h := prepareHouse(t, say("done"), say("done"))
	h.config.Attachments = fakeAttachments{}
	h.start()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	other, file := base64.StdEncoding.EncodeToString(b.Bytes()), []sdk.Attachment{{Path: "b.png"}}
	h.run(Submission{Prompt: "p", Key: "bare", Run: "r"})
	h.run(Submission{Prompt: "p", Key: "both", Run: "r", Media: images(dot), Attachments: file})
	for name, c := range map[string]struct {
		s    Submission
		same bool
	}{
		"the same":             {Submission{Key: "both", Media: images(dot), Attachments: file}, true},
		"as it was sent":       {Submission{Key: "both", Media: images(dot[:8] + "\n" + dot[8:]), Attachments: file}, true},
		"another image":        {Submission{Key: "both", Media: images(other), Attachments: file}, false},
		"no image":             {Submission{Key: "both", Attachments: []sdk.Attachment{{Path: "c.png"}}}, false},
		"one image more":       {Submission{Key: "both", Media: images(dot, other, dot), Attachments: file}, false},
		"no file":              {Submission{Key: "both", Media: images(dot)}, false},
		"another file":         {Submission{Key: "both", Media: images(dot), Attachments: []sdk.Attachment{{Path: "b.png", From: 2}}}, false},
		"none, as before":      {Submission{Key: "bare"}, true},
		"an image out of none": {Submission{Key: "bare", Media: images(dot)}, false},
		"no base64":            {Submission{Key: "both", Media: images("*"), Attachments: file}, false},
	} {
		c.s.Prompt, c.s.Run, c.s.Project = "p", "r", h.project
		if _, err := h.engine.Submit(t.Context(), c.s); (err == nil) != c.same || err != nil && sdk.OutcomeOf(err) != sdk.Conflict {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestGivenOtherwise(t *testing.T) {
	h := newHouse(t, say("done"))
	h.run(Submission{Prompt: "p", Key: "k", Run: "r"})
	for name, c := range map[string]struct {
		s    Submission
		want sdk.Outcome
		says string
	}{
		"another prompt": {Submission{Prompt: "q", Key: "k", Run: "r"}, sdk.Conflict, "another prompt was given under the key k"},
		"another run":    {Submission{Prompt: "p", Key: "k", Run: "other"}, sdk.Conflict, "another prompt"},
		"only to read":   {Submission{Prompt: "p", Key: "k", Run: "r", ReadOnly: true}, sdk.Conflict, "another prompt"},
		"no key":         {Submission{Prompt: "p", Key: "a key", Run: "r"}, sdk.Validation, "the key of a prompt"},
	} {
		t.Run(name, func(t *testing.T) {
			c.s.Project = h.project
			_, err := h.engine.Submit(t.Context(), c.s)
			wants(t, err, c.want, c.says)
		})
	}
}

// TestAMessageIsTakenOnce: what was a message before is that prompt, whatever it says now and wherever it is to go, in this
// daemon and the next; another message, and the same number of another person, group or topic, is another prompt.
func TestAMessageIsTakenOnce(t *testing.T) {
	h := prepareAsking(t, say("1"), say("2"), say("3"), say("4"), say("5"), say("6"))
	h.start()
	group := sdk.Origin{Owner: "chat/group/g", Channel: "chat"}
	loops := map[int64]bool{}
	for name, s := range map[string]Submission{
		"a message":             {Origin: chat, From: &sdk.From{Person: "ada", Message: "17"}},
		"the next one":          {Origin: chat, From: &sdk.From{Person: "ada", Message: "18"}},
		"in a group":            {Origin: group, From: &sdk.From{Person: "ada", Conversation: "g", Message: "17"}},
		"in a topic":            {Origin: group, From: &sdk.From{Person: "ada", Conversation: "g", Thread: "t", Message: "17"}},
		"a name like a topic's": {Origin: group, From: &sdk.From{Person: "ada", Conversation: "g", Message: "t/17"}},
		"a key of that number":  {Origin: chat, Key: "17", From: &sdk.From{Person: "ada", Message: "17"}},
	} {
		s.Prompt = name
		a := h.submit(s)
		h.await(a)
		if loops[a.Loop.ID] {
			t.Errorf("%s was taken for another message", name)
		}
		loops[a.Loop.ID] = true
		again := s
		if s.Key == "" {
			again.Prompt, again.Run, again.ReadOnly = "as it was edited", "another", true
		}
		if b := h.submit(again); b.Loop.ID != a.Loop.ID || b.Run.ID != a.Run.ID || b.Seq != a.Seq {
			t.Errorf("%s is taken again: %+v is not\n%+v", name, b, a)
		}
	}
	s := Submission{Prompt: "a message", Origin: chat, From: &sdk.From{Person: "ada", Message: "17"}}
	h.cut()
	h.start()
	if a := h.submit(s); !loops[a.Loop.ID] {
		t.Error("the next daemon took it again")
	}
	h.untilIdle()
}

// TestAMessageOutlivesTheDaemon: one that dies at any write of taking a message has taken it once when the channel gives it
// again, or not at all until then.
func TestAMessageOutlivesTheDaemon(t *testing.T) {
	for _, silent := range []bool{false, true} {
		for left := range 4 {
			h := prepareAsking(t, say("done"))
			m := newMortalStore(h.store.Store, left, silent)
			h.config.Store = m
			h.boot(t)
			s := Submission{Project: h.project, Run: "chat_r", Prompt: "p", Origin: chat, From: &sdk.From{Person: "ada", Message: "17"}}
			_, _ = h.engine.Submit(t.Context(), s) // whatever came of it, nobody was told
			h.cut()
			h.config.Store = h.store
			h.start()
			h.await(h.submit(s))
			if run, err := h.store.RunByAlias(t.Context(), 1, "chat_r"); err != nil {
				t.Error(err)
			} else if loops, err := h.store.Loops(t.Context(), run.ID); err != nil || len(loops) != 1 {
				t.Errorf("with %d writes, silent %v: %d prompts, %v", left, silent, len(loops), err)
			}
		}
	}
}
