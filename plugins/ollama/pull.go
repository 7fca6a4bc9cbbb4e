package main

import (
	"bufio"
	"context"
	"encoding/json"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// pullLine is one document of the stream of /api/pull.
type pullLine struct {
	Status    string          `json:"status"`
	Total     float64         `json:"total"` // bytes of the layer that is being got
	Completed float64         `json:"completed"`
	Error     json.RawMessage `json:"error"`
}

// maxQuiet is how long a pull may stay silent: of a large model that it has Ollama reads the
// whole before it says that it is right.
const maxQuiet = 15 * time.Minute

// Pull gets a model from Ollama's registry. See provider.Puller.
func (o *ollama) Pull(ctx context.Context, model string, progress func(sdk.PullProgress) error) error {
	if err := o.awake(ctx); err != nil {
		return err
	}
	answer, err := o.client.Patient(maxQuiet).Post(ctx, "/api/pull", map[string]any{"model": model, "stream": true})
	if err != nil {
		return pullError(err)
	}
	defer func() { _ = answer.Close() }() // read as far as it was wanted
	scanner := bufio.NewScanner(answer)
	scanner.Buffer(make([]byte, 4<<10), maxLine)
	for scanner.Scan() {
		var l pullLine
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			continue // a line that is not for us
		}
		switch {
		case len(l.Error) > 0 && string(l.Error) != "null":
			return pullError(o.client.Failure(0, answer.Header, scanner.Bytes()))
		case l.Status == "success":
			return nil
		}
		if err := progress(sdk.PullProgress{Status: l.Status, Done: max(0, int64(l.Completed)), Total: max(0, int64(l.Total))}); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := scanner.Err(); err != nil {
		return pullError(err)
	}
	return sdk.Errorf(sdk.Unavailable, "%s broke off before the model was whole; what it has it keeps: pull again", o.client.Host())
}

// pullError is a failure of the server as one of the socket: it has no class to retry by.
func pullError(err error) error { return sdk.Errorf(sdk.Unavailable, "%w", err) }
