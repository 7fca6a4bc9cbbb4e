package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// placeholder is the text of a message that is not filled yet.
const placeholder = "…"

// answers brings what is owed to a place, one answer after the other, unless that is being done.
func (f *front) answers(ctx context.Context, p place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.talking[p] {
		return
	}
	f.talking[p] = true
	f.work.Go(func() error {
		for {
			d, more := f.next(p)
			if !more {
				return nil
			}
			if err := f.answer(ctx, p, d); err != nil {
				return err
			}
		}
	})
}

// next is the next answer that is owed to a place; where there is none, nobody brings answers there from then on.
func (f *front) next(p place) (delivery, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if owed := f.records.of(p).Owed; len(owed) > 0 {
		return owed[0], true
	}
	delete(f.talking, p)
	return delivery{}, false
}

// answer brings one answer. It shows what is being written meanwhile, and waits until all of it is there.
func (f *front) answer(ctx context.Context, p place, d delivery) error {
	s := &sheet{front: f, place: p, delivery: d, alone: p.Chat > 0, pages: map[int]styled{}}
	err := s.fill(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case isBarred(err):
		slog.Warn(fmt.Sprintf("an answer has nobody who reads it: %v", err))
	case refused(err) != nil:
		slog.Error(fmt.Sprintf("an answer could not be sent: %v", err))
	case err != nil:
		return err
	}
	_, err = f.records.change(ctx, p, func(r *record) error { return r.done(d.Loop) })
	return err
}

// sheet is the messages in which one answer is written.
type sheet struct {
	*front
	place    place
	delivery delivery
	alone    bool
	pages    map[int]styled // what the messages show, as far as this process knows
}

// fill writes the answer: what is written so far, then the whole.
func (s *sheet) fill(ctx context.Context) error {
	signal, end := s.live.await(s.delivery.Run, s.delivery.Loop)
	defer end()
	if err := s.begin(ctx); err != nil {
		return err
	}
	reading := &reading{daemon: s.daemon, delivery: s.delivery}
	edits := time.NewTicker(s.pace())
	defer edits.Stop()
	typing := time.NewTicker(4 * time.Second)
	defer typing.Stop()
	for {
		loop, err := reading.loop(ctx)
		if err != nil {
			return err
		}
		if loop != nil {
			if err := s.proposals(ctx, &reading.tree, loop); err != nil {
				return err
			}
			if loop.End != nil {
				return s.whole(ctx, final(loop))
			}
		}
		if err := s.progress(ctx, s.live.draft(s.delivery.Loop)); err != nil {
			return err
		}
		select { // one edit in each interval, however much is written
		case <-edits.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		for woken := false; !woken; {
			select {
			case <-signal:
				woken = true
			case <-typing.C:
				_ = s.bot.sendChatAction(ctx, s.place) // it is for the eye alone
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// pace is how often a message is edited at most. In groups Telegram takes twenty messages in a minute.
func (s *sheet) pace() time.Duration {
	if s.alone {
		return time.Second
	}
	return 3 * time.Second
}

// begin makes sure that the first message is there.
func (s *sheet) begin(ctx context.Context) error {
	_ = s.bot.sendChatAction(ctx, s.place) // it is for the eye alone
	return s.page(ctx, 0)
}

// page makes sure that the message of a number is there. It is sent empty and kept before anything is written in it, so
// that whoever goes on after a crash writes in the same one.
func (s *sheet) page(ctx context.Context, at int) error {
	if at < len(s.delivery.Parts) {
		return nil
	}
	m := outgoing{Chat: s.place.Chat, Thread: s.place.Thread, Text: placeholder}
	if at == 0 && !s.alone {
		m.Reply = &replyTo{Message: s.delivery.Message, Lenient: true}
	}
	sent, err := s.bot.sendMessage(ctx, m)
	if err != nil {
		return err
	}
	s.pages[at] = styled{Text: placeholder}
	return s.keep(ctx, at, sent.ID)
}

func (s *sheet) keep(ctx context.Context, at int, message int64) error {
	r, err := s.records.change(ctx, s.place, func(r *record) error { return r.part(s.delivery.Loop, at, message) })
	if err != nil {
		return err
	}
	for _, d := range r.Owed {
		if d.Loop == s.delivery.Loop {
			s.delivery = d
		}
	}
	return nil
}

// write makes a message show a text. One that a person deleted is sent again.
func (s *sheet) write(ctx context.Context, at int, m styled) error {
	if err := s.page(ctx, at); err != nil {
		return err
	}
	if was, known := s.pages[at]; known && was.Text == m.Text && len(was.Entities) == len(m.Entities) {
		return nil
	}
	out := outgoing{Chat: s.place.Chat, Message: s.delivery.Parts[at], Text: m.Text, Entities: m.Entities, Preview: &preview{Off: true}}
	err := s.bot.editMessageText(ctx, out)
	if isUnformatted(err) {
		out.Entities = nil
		err = s.bot.editMessageText(ctx, out)
	}
	if isGone(err) {
		out.Message, out.Thread = 0, s.place.Thread
		var sent message
		if sent, err = s.bot.sendMessage(ctx, out); err == nil {
			err = s.keep(ctx, at, sent.ID)
		}
	}
	if err != nil && !isUnchanged(err) {
		return err
	}
	s.pages[at] = m
	return nil
}

// progress shows what is written so far: the end of it, in the first message.
func (s *sheet) progress(ctx context.Context, draft string) error {
	all := messages(draft)
	if len(all) == 0 {
		return nil
	}
	return s.write(ctx, 0, all[len(all)-1])
}

// whole writes an answer that is there: in messages, or as a document where those would be too many.
func (s *sheet) whole(ctx context.Context, text string) error {
	all := messages(text)
	if len(all) > mostMessages {
		err := s.document(ctx, all[0], text)
		if err == nil || ctx.Err() != nil || isBarred(err) || refused(err) == nil {
			return err
		}
		slog.Warn(fmt.Sprintf("a long answer is sent as messages: %v", err))
	}
	for at, m := range all {
		if err := s.write(ctx, at, m); err != nil {
			return err
		}
	}
	return nil
}

// document makes a document of the first message.
func (s *sheet) document(ctx context.Context, first styled, text string) error {
	caption := trimmed(first.slice(0, fits(first.Text, mostCaption/4))).Text + " …"
	for range 2 {
		if err := s.page(ctx, 0); err != nil {
			return err
		}
		err := s.bot.editMessageMedia(ctx, s.place.Chat, s.delivery.Parts[0], caption, "answer.md", []byte(text))
		if !isGone(err) {
			if isUnchanged(err) {
				return nil
			}
			return err
		}
		sent, err := s.bot.sendMessage(ctx, outgoing{Chat: s.place.Chat, Thread: s.place.Thread, Text: placeholder})
		if err != nil {
			return err
		}
		if err := s.keep(ctx, 0, sent.ID); err != nil {
			return err
		}
	}
	return &refusal{Method: "editMessageMedia", Code: http.StatusBadRequest, Said: "the message is deleted each time"}
}

// reading reads the journal of a run from where its prompt was given.
type reading struct {
	daemon   daemon
	delivery delivery
	tree     timeline.Tree // with the runs that it delegated work to
	after    int64
}

// loop is what the journal tells of the loop by now; nil is nothing.
func (r *reading) loop(ctx context.Context) (*timeline.Loop, error) {
	r.after = max(r.after, r.delivery.Seq)
	for {
		var page rpc.JournalPage
		p := rpc.JournalParams{Run: number(r.delivery.Run), After: r.after, Limit: 1000, Children: true}
		err := r.daemon.Call(ctx, rpc.MethodJournal, p, &page)
		if sdk.OutcomeOf(err) == sdk.NotFound {
			return &timeline.Loop{ID: r.delivery.Loop, End: &sdk.LoopEnd{Status: sdk.StatusNotFound, Stop: sdk.StopAborted, Reason: "its run was deleted"}}, nil
		}
		if err != nil {
			return nil, err
		}
		for _, row := range page.Rows {
			r.tree.Take(row)
			r.after = row.Seq
		}
		if page.Next == 0 {
			break
		}
		r.after = page.Next
	}
	run := r.tree.Run(r.delivery.Run)
	if run == nil {
		return nil, nil
	}
	for _, l := range run.Loops {
		if l.ID == r.delivery.Loop {
			return l, nil
		}
	}
	return nil, nil
}

// final is the text of an answer: what the model said, and how the work ended where that is not well.
func final(l *timeline.Loop) string {
	text := strings.TrimSpace(l.Answer())
	if sdk.StopExit(l.End.Stop, l.End.Status) == sdk.ExitOK && text != "" {
		return text
	}
	end := show.Ended(*l.End)
	if reason := strings.TrimSpace(l.End.Reason); reason != "" && l.End.Stop != sdk.StopAnswer {
		end += ": " + reason
	}
	return strings.TrimSpace(text + "\n\n" + literal(end))
}

// literal is a text in Markdown that reads as it is.
func literal(text string) string {
	var b strings.Builder
	for _, c := range text {
		if strings.ContainsRune("\\`*_{}[]()#+-.!|<>~&", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}
