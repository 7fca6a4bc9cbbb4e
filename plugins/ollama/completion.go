package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/modelhttp"
)

// maxLine bounds a line, which is one JSON document and holds whole calls.
const maxLine = 16 << 20

// completion reads one answer of /api/chat: JSON documents, one a line.
type completion struct {
	ctx      context.Context
	client   *modelhttp.Client
	out      *modelhttp.Sender
	model    string
	window   int // num_ctx of the request
	estimate int // of the request's tokens

	said, thought modelhttp.Joiner
}

// line is one document of the stream.
type line struct {
	Message struct {
		Content   modelhttp.Text `json:"content"`
		Thinking  modelhttp.Text `json:"thinking"`
		Reasoning modelhttp.Text `json:"reasoning_content"` // servers that imitate Ollama
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Prompt     float64         `json:"prompt_eval_count"`
	Eval       float64         `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}

func (c *completion) read(answer io.Reader) error { return c.out.Ended(c.readLines(answer)) }

func (c *completion) readLines(answer io.Reader) error {
	scanner := bufio.NewScanner(answer)
	scanner.Buffer(make([]byte, 32<<10), maxLine)
	for scanner.Scan() {
		raw := bytes.TrimSpace(scanner.Bytes())
		if len(raw) == 0 {
			continue
		}
		if err := c.out.Took(len(raw)); err != nil {
			return err
		}
		done, err := c.take(raw)
		if done || err != nil {
			return err
		}
	}
	if err := scanner.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return c.client.Faulty(sdk.ClassNever, "sent a line of more than %d MiB", maxLine>>20)
		}
		return err
	}
	return c.client.Broken("ended the stream before its answer was complete")
}

// take reads one document and reports whether it was the last.
func (c *completion) take(raw []byte) (bool, error) {
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return false, c.client.Broken("sent a line that is not the JSON of a completion: %v", err)
	}
	if len(l.Error) > 0 && string(l.Error) != "null" {
		return false, explain(c.client.Failure(0, http.Header{}, raw), c.model)
	}
	thought := c.thought.Add(append(l.Message.Thinking, l.Message.Reasoning...))
	if err := c.out.Say(c.said.Add(l.Message.Content), thought); err != nil {
		return false, err
	}
	for _, call := range l.Message.ToolCalls {
		if err := c.call(call.ID, call.Function.Name, call.Function.Arguments); err != nil {
			return false, err
		}
	}
	if !l.Done {
		return false, nil
	}
	return true, c.finish(l)
}

// call sends a whole call. Ollama gave no ids before 0.12, and its arguments
// are an object; servers that imitate it may send text.
func (c *completion) call(id, tool string, arguments json.RawMessage) error {
	call, err := c.out.Begin(id, cmp.Or(tool, modelhttp.Unnamed))
	if err != nil {
		return err
	}
	return c.out.Arguments(call.Index, argumentText(arguments))
}

func argumentText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = strings.ToValidUTF8(string(raw), "\uFFFD")
	}
	if s = strings.TrimSpace(s); s == "" || s == "null" {
		return "{}"
	}
	return s
}

func (c *completion) finish(l line) error {
	if err := c.out.Say(c.said.Rest(), c.thought.Rest()); err != nil {
		return err
	}
	if l.DoneReason == "load" && !c.out.Streamed {
		return &sdk.ProviderError{Class: sdk.ClassWarmUp, Message: c.client.Host() + " loaded the model and did not answer yet"}
	}
	if c.truncated(int(l.Prompt)) {
		return &sdk.ProviderError{Class: sdk.ClassOverflow, Message: fmt.Sprintf(
			"the context is too long for the model at %s: about %d tokens were sent, its window is %d, and it read %d of them; update Ollama, so that it refuses what does not fit",
			c.client.Host(), c.estimate, c.window, int(l.Prompt))}
	}
	if l.Prompt > 0 || l.Eval > 0 {
		u := sdk.Usage{Prompt: max(0, int(l.Prompt)), Completion: max(0, int(l.Eval))}
		u.Total = u.Prompt + u.Completion
		if err := c.out.Send(sdk.Delta{Usage: &u}); err != nil {
			return err
		}
	}
	reason := "stop" // Ollama says "stop" with calls too
	switch {
	case l.DoneReason == "length":
		reason = "length"
	case c.out.Calls > 0:
		reason = "calls"
	}
	return c.out.Send(sdk.Delta{Finish: &sdk.Finish{Reason: reason}})
}

// truncated finds out a server too old to know truncate:false. It needs both:
// a request that cannot fit, and a prompt of which less than half was read.
func (c *completion) truncated(read int) bool {
	return c.window > 0 && c.estimate > c.window && read > 0 && read <= c.window && read < c.estimate/2
}
