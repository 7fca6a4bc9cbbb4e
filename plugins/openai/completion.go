package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/modelhttp"
)

// afterFinish is how long the stream may stay silent after the finish reason:
// only the usage report and the end mark are still to come.
const afterFinish = 5 * time.Second

// completion reads one answer and sends its deltas.
type completion struct {
	ctx    context.Context
	client *modelhttp.Client
	out    *modelhttp.Sender

	window int    // of a model whose server takes more and says nothing; 0 is unknown
	done   bool   // the end mark came
	reason string // the server's finish reason
	usage  *sdk.Usage

	said, thought modelhttp.Joiner
	think         thinking
	field         string // the field that reasoning came in
	details       details
	calls         calls
}

func newCompletion(ctx context.Context, client *modelhttp.Client, send func(sdk.Delta) error) *completion {
	out := modelhttp.NewSender(client, send)
	return &completion{ctx: ctx, client: client, out: out, calls: calls{out: out}}
}

// read reads a whole answer.
func (c *completion) read(answer *modelhttp.Answer) error {
	err := c.readEvents(answer.Events(), answer.Hurry)
	if err == nil {
		err = c.close()
	}
	return c.out.Ended(err)
}

func (c *completion) readEvents(stream *modelhttp.Events, hurry func(time.Duration)) error {
	for !c.done {
		ev, err := stream.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return c.ended(err)
		}
		if err := c.take(ev); err != nil {
			return err
		}
		c.done = c.done || ev.Whole
		if c.reason != "" {
			hurry(afterFinish)
		}
	}
	return nil
}

// ended judges an error of reading. After the finish reason the answer is
// whole, and only a usage report may be missing.
func (c *completion) ended(err error) error {
	if errors.Is(err, modelhttp.ErrLongEvent) {
		return c.client.Faulty(sdk.ClassNever, "sent what cannot be read: %v", err)
	}
	if c.reason != "" && c.ctx.Err() == nil {
		return nil
	}
	return err
}

// take reads one event.
func (c *completion) take(ev modelhttp.Event) error {
	data := bytes.TrimSpace(ev.Data)
	if len(data) == 0 {
		return nil
	}
	if string(data) == "[DONE]" {
		c.done = true
		return nil
	}
	if err := c.out.Took(len(data)); err != nil {
		return err
	}
	var ch chunk
	if err := json.Unmarshal(data, &ch); err != nil {
		if ev.Unended {
			return c.client.Broken("broke off in the middle of its answer")
		}
		return c.client.Broken("sent an event that is not the JSON of a completion: %v", err)
	}
	if ch.isError() || ev.Name == "error" {
		return c.client.Failure(0, http.Header{}, data)
	}
	for _, raw := range []json.RawMessage{ch.Usage, ch.XGroq.Usage} {
		if u := usage(raw); u != nil {
			c.usage = u
		}
	}
	for _, choice := range ch.Choices {
		if err := c.takeChoice(choice); err != nil {
			return err
		}
	}
	return nil
}

func (c *completion) takeChoice(ch choice) error {
	if ch.Index != 0 { // one was asked for
		return nil
	}
	d := ch.Delta
	if d == nil {
		d = ch.Message
	}
	if d != nil {
		if err := c.takeDelta(*d); err != nil {
			return err
		}
	}
	if reason := word(ch.FinishReason); reason != "" {
		c.reason = reason
	}
	if c.reason == "error" {
		return c.client.Faulty(sdk.ClassServer, "ended its answer with an error and gave no reason")
	}
	return nil
}

func (c *completion) takeDelta(d delta) error {
	said, inner := content(d.Content)
	if err := c.takeReasoning(d, inner); err != nil {
		return err
	}
	said = append(said, text(d.Refusal)...)
	if len(said) > 0 {
		said, thought := c.think.add(c.said.Add(said))
		if err := c.out.Say(said, thought); err != nil {
			return err
		}
	}
	for _, f := range fragments(d.ToolCalls) {
		if err := c.calls.add(f); err != nil {
			return err
		}
	}
	return nil
}

// takeReasoning takes reasoning from the one field that has it: newer vLLM sends it
// under both names, OpenRouter as text and as details.
func (c *completion) takeReasoning(d delta, inner []byte) error {
	fromDetails := c.details.add(d.ReasoningDetails)
	thought := inner
	switch {
	case len(text(d.ReasoningContent)) > 0:
		thought, c.field = text(d.ReasoningContent), fieldReasoningContent
	case len(text(d.Reasoning)) > 0:
		thought = text(d.Reasoning)
	case fromDetails != "":
		thought = []byte(fromDetails)
	}
	if len(thought) == 0 {
		return nil
	}
	c.think.off()
	return c.out.Say("", c.thought.Add(thought))
}

// close sends what was held back, the usage and the finish. An answer that
// never said that it ended is incomplete, whatever came before.
func (c *completion) close() error {
	if c.reason == "" && !c.done {
		return c.client.Broken("ended the stream before its answer was complete")
	}
	said, thought := c.think.add(c.said.Rest())
	if err := c.out.Say(said, thought); err != nil {
		return err
	}
	said, thought = c.think.rest()
	if err := c.out.Say(said, thought+c.thought.Rest()); err != nil {
		return err
	}
	if err := c.calls.finish(); err != nil {
		return err
	}
	if c.reason == "" && !c.out.Streamed {
		return c.client.Faulty(sdk.ClassServer, "sent an empty answer")
	}
	if c.window > 0 && c.usage != nil && c.usage.Prompt > c.window {
		return c.client.Faulty(sdk.ClassOverflow, "took a prompt of %d tokens for a model whose context is %d, and said nothing of it", c.usage.Prompt, c.window)
	}
	if c.usage != nil {
		if err := c.out.Send(sdk.Delta{Usage: c.usage}); err != nil {
			return err
		}
	}
	return c.out.Send(sdk.Delta{Finish: &sdk.Finish{Reason: c.finishReason(), Extra: c.extra()}})
}

// finishReason decides on the calls that were collected: Ollama and some vLLM
// parsers say "stop" with calls.
func (c *completion) finishReason() string {
	switch c.reason {
	case "length", "max_tokens":
		return "length"
	case "content_filter":
		return "filter"
	}
	if c.out.Calls > 0 {
		return "calls"
	}
	return "stop"
}

// extra is what the next request to this server needs of this answer.
func (c *completion) extra() json.RawMessage {
	k := kept{From: c.client.Host(), Field: c.field, Details: c.details.raw(), Calls: c.calls.extras()}
	if k.Field == "" && len(k.Details) == 0 && len(k.Calls) == 0 {
		return nil
	}
	raw, err := json.Marshal(k)
	if err != nil {
		return nil // strings and decoded JSON always marshal
	}
	return raw
}
