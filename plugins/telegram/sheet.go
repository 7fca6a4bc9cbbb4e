package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// placeholder is the text of a message that is not filled yet.
const placeholder = "…"

// sheet is the messages in which one answer is written.
type sheet struct {
	*front
	place    place
	delivery delivery
	alone    bool
	pages    map[int]styled // what the messages show, as far as this process knows
	note     string         // what is shown besides until the answer is there
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
		if err := s.progress(ctx, s.live.draft(s.delivery.Loop)); err != nil && !isUnfit(err) { // the whole may fit
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

// page makes sure that the message of a number is there.
func (s *sheet) page(ctx context.Context, at int) error {
	if at < len(s.delivery.Parts) {
		return nil
	}
	return s.begun(ctx, at)
}

// begun sends the message of a number, empty, and keeps it before anything is written in it, so that whoever goes on after
// a crash writes in the same one.
func (s *sheet) begun(ctx context.Context, at int) error {
	m := outgoing{Thread: s.place.Thread}
	if at == 0 && !s.alone {
		m.Reply = &replyTo{Message: s.delivery.Message, Lenient: true}
	}
	sent, err := s.empty(ctx, m)
	if err != nil {
		return err
	}
	s.pages[at] = styled{Text: placeholder}
	return s.keep(ctx, at, sent.ID)
}

// empty sends a message that is filled later. Where Telegram does not take it there, in a topic that was closed or deleted,
// say, it stands in the chat itself.
func (s *sheet) empty(ctx context.Context, m outgoing) (sent message, err error) {
	m.Chat, m.Text = s.place.Chat, placeholder
	sent, err = s.bot.sendMessage(ctx, m)
	if isUnfit(err) && (m.Thread != 0 || m.Reply != nil) {
		m.Thread, m.Reply = 0, nil
		sent, err = s.bot.sendMessage(ctx, m)
	}
	return sent, err
}

// in does something to the message of a number. One that a person deleted is sent again.
func (s *sheet) in(ctx context.Context, at int, do func(message int64) error) error {
	err := s.page(ctx, at)
	if err == nil {
		err = do(s.delivery.Parts[at])
	}
	if isGone(err) {
		if err = s.begun(ctx, at); err == nil {
			err = do(s.delivery.Parts[at])
		}
	}
	if isUnchanged(err) {
		return nil
	}
	return err
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

// write makes a message show a text, without its form where Telegram does not take that.
func (s *sheet) write(ctx context.Context, at int, m styled) error {
	if was, known := s.pages[at]; known && was.Text == m.Text && len(was.Entities) == len(m.Entities) {
		return nil
	}
	err := s.in(ctx, at, func(message int64) error {
		out := outgoing{Chat: s.place.Chat, Message: message, Text: m.Text, Entities: m.Entities, Preview: &preview{Off: true}}
		err := s.bot.editMessageText(ctx, out)
		if isUnformatted(err) {
			out.Entities = nil
			err = s.bot.editMessageText(ctx, out)
		}
		return err
	})
	if err == nil {
		s.pages[at] = m
	}
	return err
}

// progress shows what is written so far: the end of it, in the first message.
func (s *sheet) progress(ctx context.Context, draft string) error {
	all := messages(draft + "\n\n" + literal(s.note))
	if len(all) == 0 {
		return nil
	}
	return s.write(ctx, 0, all[len(all)-1])
}

// whole writes an answer that is there: in messages, or as a document where those would be too many, or one of them is
// refused.
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
		err := s.write(ctx, at, m)
		if isUnfit(err) && len(all) <= mostMessages {
			slog.Warn(fmt.Sprintf("an answer is sent as a document: %v", err))
			return s.document(ctx, all[0], text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// document makes a document of the first message.
func (s *sheet) document(ctx context.Context, first styled, text string) error {
	caption := trimmed(first.slice(0, fits(first.Text, mostCaption/4))).Text + " …"
	return s.in(ctx, 0, func(message int64) error {
		return s.bot.editMessageMedia(ctx, s.place.Chat, message, caption, "answer.md", []byte(text))
	})
}
