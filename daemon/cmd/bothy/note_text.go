package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// note tells what the engine said of its own work, once.
func (t *runReport) note(n rpc.Note) {
	if t.noted[n.Seq] || !strings.HasPrefix(n.Kind, sdk.KindNote) {
		return
	}
	t.noted[n.Seq] = true
	if text := noteText(n.Kind, n.Data); text != "" {
		t.hang(4, 2, "~ "+text)
	}
}

// noteText says a note in words. One of a kind that this version does not know
// is told by its message, or else by its data as it is.
func noteText(kind string, raw json.RawMessage) string {
	var n struct {
		Message   string `json:"message"`
		Because   string `json:"because"`
		Class     string `json:"class"`
		Attempt   int    `json:"attempt"`
		WaitMS    int64  `json:"wait_ms"`
		Before    int    `json:"before"`
		After     int    `json:"after"`
		Answers   int    `json:"answers"`
		Prompts   int    `json:"prompts"`
		Shortened int    `json:"shortened"`
		Plugin    string `json:"plugin"`
		Tool      string `json:"tool"`
	}
	if len(raw) > 0 && json.Unmarshal(raw, &n) != nil {
		return strings.TrimPrefix(kind, sdk.KindNote+".") + " " + string(raw)
	}
	switch kind {
	case sdk.KindNoteRetry:
		return fmt.Sprintf("asked again after %s (attempt %d): %s", time.Duration(n.WaitMS)*time.Millisecond, n.Attempt, n.Message)
	case sdk.KindNotePruned:
		return pruned(n.Before, n.After, n.Answers, n.Prompts, n.Shortened, n.Because)
	case sdk.KindNoteCall:
		return fmt.Sprintf("the plugin %s called %s", n.Plugin, n.Tool)
	}
	name := strings.TrimPrefix(strings.TrimPrefix(kind, sdk.KindNote), ".")
	if n.Message != "" {
		return strings.TrimPrefix(name+": "+n.Message, ": ")
	}
	return strings.TrimSpace(name + " " + string(raw))
}

func pruned(before, after, answers, prompts, shortened int, because string) string {
	var what []string
	if answers > 0 {
		what = append(what, plural(answers, "earlier answer")+" with their calls")
	}
	if prompts > 0 {
		what = append(what, plural(prompts, "earlier prompt"))
	}
	text := "left out " + strings.Join(what, " and ")
	if len(what) == 0 {
		text = "dropped no whole message"
	}
	if shortened > 0 {
		text += fmt.Sprintf(", shortened %s", plural(shortened, "result"))
	}
	text += fmt.Sprintf(": %d tokens became %d", before, after)
	if because != "" {
		text += " (" + because + ")"
	}
	return text
}
