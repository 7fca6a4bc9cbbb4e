package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bothyd/bothy/sdk/client"
)

// daemon is what the front asks of the daemon: a *client.Client, or what a test has in its place.
type daemon interface {
	Call(ctx context.Context, method string, params, result any) error
	Follow(ctx context.Context, w client.Watch, each func(client.Event) error) error
	PutFile(ctx context.Context, run, project, name string, size int64, from io.Reader) (string, error)
}

// front brings messages to the daemon and answers to chats, for one Serve.
type front struct {
	bot      *bot
	me       user
	daemon   daemon
	shelf    shelf
	instance string
	project  string
	records  *records
	live     *live
	since    int64 // of the journal, before any of it is read: what comes behind it wakes
	now      func() time.Time
	say      func(string)
	work     *errgroup.Group // of answers

	mu      sync.Mutex
	talking map[dialogue]bool    // whose answers are being brought
	noted   map[string]time.Time // strangers, by when they were noted last
	tickets map[string]*held     // by proposal
}

// dialogue is a place and a run that is talked with there.
type dialogue struct {
	place place
	run   int64
}

func newFront(b *bot, me user, d daemon, kept shelf, instance, project string) *front {
	return &front{
		bot: b, me: me, daemon: d, shelf: kept, instance: instance, project: project,
		live: newLive(), since: -1, now: time.Now, say: func(string) {},
		talking: map[dialogue]bool{}, noted: map[string]time.Time{}, tickets: map[string]*held{},
	}
}

// serve goes on with what is owed, and takes what is written until ctx ends or the daemon is lost.
func (f *front) serve(ctx context.Context, say func(string)) (err error) {
	f.say = say
	if f.records, err = load(ctx, f.shelf); err != nil {
		return err
	}
	f.work, ctx = errgroup.WithContext(ctx)
	f.work.Go(func() error { return f.live.follow(ctx, f.daemon, f.project, f.since) })
	for _, p := range f.records.places() {
		f.answers(ctx, p)
	}
	f.work.Go(func() error { return f.poll(ctx) })
	return f.work.Wait()
}

// poll asks for what was written, and confirms it when the daemon has it. What may have more parts is asked for again a
// moment later, before it is taken.
func (f *front) poll(ctx context.Context) error {
	var offset int64
	for ctx.Err() == nil {
		var updates []update
		asked := f.now()
		err := patiently(ctx, f.bot, f.say, func() (err error) {
			updates, err = f.bot.getUpdates(ctx, offset)
			return err
		})
		if err != nil {
			return err
		}
		f.say("connected as @" + f.me.Username)
		if len(updates) == 0 && f.now().Sub(asked) < time.Second { // a server that does not wait until there are some
			if err := f.bot.pause(ctx, 200*time.Millisecond); err != nil {
				return err
			}
		}
		for known := 0; len(updates) > known && mayGoOn(groups(messagesOf(updates))); {
			known = len(updates)
			if err := f.bot.pause(ctx, together); err != nil {
				return err
			}
			if more, err := f.bot.getUpdates(ctx, offset); err == nil && len(more) >= known {
				updates = more
			}
		}
		if err := f.take(ctx, updates); err != nil {
			return err
		}
		for _, u := range updates {
			offset = max(offset, u.ID+1)
		}
	}
	return ctx.Err()
}

// messagesOf are the messages among updates, in the order in which they were written.
func messagesOf(updates []update) (all []*message) {
	for _, u := range updates {
		if u.Message != nil {
			all = append(all, u.Message)
		}
	}
	return all
}

// take does what updates ask for: chats beside each other, each in its order.
func (f *front) take(ctx context.Context, updates []update) error {
	byChat := map[int64][]func() error{}
	for _, g := range groups(messagesOf(updates)) {
		chat := g[0].Chat.ID
		byChat[chat] = append(byChat[chat], func() error { return f.takeGroup(ctx, g) })
	}
	for _, u := range updates {
		if u.Press != nil && u.Press.Message != nil {
			chat := u.Press.Message.Chat.ID
			byChat[chat] = append(byChat[chat], func() error { return f.takePress(ctx, u.Press) })
		}
	}
	var chats errgroup.Group
	for _, todo := range byChat {
		chats.Go(func() error {
			for _, do := range todo {
				if err := do(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return chats.Wait()
}

// note logs what is not worth an answer, once a day for each.
func (f *front) note(who, what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if last, was := f.noted[who]; was && now.Sub(last) < 24*time.Hour {
		return
	}
	if len(f.noted) >= 1000 { // a flood of strangers is no reason to grow
		clear(f.noted)
	}
	f.noted[who] = now
	slog.Warn(fmt.Sprintf("%s %s", who, what))
}

// tell sends a text of the plugin's own. A chat that cannot be written to is no error: nobody would read it.
func (f *front) tell(ctx context.Context, to place, text string) error {
	for _, piece := range plain(text) {
		_, err := f.bot.sendMessage(ctx, outgoing{Chat: to.Chat, Thread: to.Thread, Text: piece.Text, Entities: piece.Entities, Preview: &preview{Off: true}})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			slog.Warn(fmt.Sprintf("a chat was not told: %v", err))
			return nil
		}
	}
	return nil
}
