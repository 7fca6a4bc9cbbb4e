package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/modelhttp"
)

// afterReason is how long the stream may stay silent after the stop reason: only
// its end is still to come.
const afterReason = 5 * time.Second

// completion reads one answer and sends its deltas.
type completion struct {
	client *modelhttp.Client
	out    *modelhttp.Sender

	done   bool   // message_stop came
	reason string // the server's stop reason
	usage  usage
	blocks blocks
}

func newCompletion(client *modelhttp.Client, send func(sdk.Delta) error) *completion {
	out := modelhttp.NewSender(client, send)
	return &completion{client: client, out: out, blocks: blocks{out: out}}
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
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, modelhttp.ErrLongEvent):
			return c.client.Faulty(sdk.ClassNever, "sent what cannot be read: %v", err)
		case err != nil:
			return err
		}
		if err := c.take(ev); err != nil {
			return err
		}
		if c.reason != "" {
			hurry(afterReason)
		}
	}
	return nil
}

// take reads one event.
func (c *completion) take(ev modelhttp.Event) error {
	data := bytes.TrimSpace(ev.Data)
	if len(data) == 0 || string(data) == "[DONE]" { // the end mark of another dialect
		return nil
	}
	if err := c.out.Took(len(data)); err != nil {
		return err
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		if ev.Unended {
			return c.client.Broken("broke off in the middle of its answer")
		}
		return c.client.Broken("sent an event that is not the JSON of a completion: %v", err)
	}
	kind := cmp.Or(e.Type, ev.Name)
	if kind == "error" || ev.Name == "error" || len(e.Error) > 0 && string(e.Error) != "null" {
		return c.client.Failure(0, http.Header{}, data)
	}
	return c.event(kind, e)
}

// event takes one event that is no failure. Kinds that are not known, which the
// server may add, are passed over, and so is ping.
func (c *completion) event(kind string, e event) error {
	switch kind {
	case "message_start":
		var m struct {
			Usage json.RawMessage `json:"usage"`
		}
		if json.Unmarshal(e.Message, &m) == nil {
			c.usage.add(m.Usage)
		}
	case "content_block_start":
		return c.blocks.begin(number(e.Index), e.Block)
	case "content_block_delta":
		return c.blocks.add(number(e.Index), e.Delta)
	case "content_block_stop":
		return c.blocks.stop(number(e.Index))
	case "message_delta":
		c.usage.add(e.Usage)
		c.reason = cmp.Or(e.Delta.Reason, c.reason)
	case "message_stop":
		c.done = true
	case "message":
		return c.whole(e)
	}
	return nil
}

// whole takes an answer that does not stream.
func (c *completion) whole(e event) error {
	var content []json.RawMessage
	if err := json.Unmarshal(e.Content, &content); err != nil {
		return c.client.Broken("sent an answer without content: %v", err)
	}
	for i, raw := range content {
		if err := c.blocks.begin(i, raw); err != nil {
			return err
		}
	}
	c.usage.add(e.Usage)
	c.reason, c.done = e.Reason, true
	return nil
}

// close sends what was held back, the usage and the finish. An answer without its
// end is incomplete, whatever came before.
func (c *completion) close() error {
	if !c.done {
		return c.client.Broken("ended the stream before its answer was complete")
	}
	reason := c.finishReason()
	if err := c.blocks.finish(reason == "length"); err != nil {
		return err
	}
	if c.reason == "" && !c.out.Streamed {
		return c.client.Faulty(sdk.ClassServer, "sent an empty answer")
	}
	if u := c.usage.report(); u != nil {
		if err := c.out.Send(sdk.Delta{Usage: u}); err != nil {
			return err
		}
	}
	return c.out.Send(sdk.Delta{Finish: &sdk.Finish{Reason: reason, Extra: c.blocks.kept(c.client.Host()).raw()}})
}

// finishReason is the server's stop reason in our words. An answer that the server
// paused is not whole, which only happens to tools that run at the server; those
// are never asked for.
func (c *completion) finishReason() string {
	switch {
	case c.reason == "max_tokens" || c.reason == "model_context_window_exceeded" || c.reason == "pause_turn":
		return "length"
	case c.reason == "refusal":
		return "filter"
	case c.reason == "tool_use" || c.out.Calls > 0: // some servers say end_turn with calls
		return "calls"
	default: // end_turn, stop_sequence
		return "stop"
	}
}
