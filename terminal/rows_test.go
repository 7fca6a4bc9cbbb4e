package main

import (
	"encoding/json"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
)

// takes has a conversation take in messages, one after the other.
func (c *conversation) takes(msgs ...tea.Msg) {
	for _, m := range msgs {
		c.Update(m)
	}
}

// inRun has a conversation be in run 1, without a feed of its own.
func (c *conversation) inRun() {
	c.run, c.runID, c.following, c.others.watching = "r", 1, true, true
}

// Rows of run 1, as the feed tells them.

func told(kind string, loop int64, turn int, path, data, body string) tea.Msg {
	row := sdk.JournalRow{Kind: kind, Path: path, Data: json.RawMessage(data), Loop: loop, Turn: turn, Run: 1, Time: time.Now()}
	if body != "" {
		row.Body = &body
	}
	return rowCame{row}
}

func queuedRow(loop int64, prompt string) tea.Msg {
	return told(sdk.KindLoopQueued, loop, 0, "", "{}", prompt)
}

func startedRow(loop int64) tea.Msg { return told(sdk.KindLoopStarted, loop, 0, "", "{}", "") }

func openedRow(loop int64, turn int) tea.Msg {
	return told(sdk.KindTurnOpened, loop, turn, "", "{}", "")
}

func replyRow(loop int64, turn int, text string) tea.Msg {
	return told(sdk.KindEntrySet, loop, turn, fmt.Sprint("assistant://", turn), `{"state":"resolved"}`, text)
}

func resultRow(loop int64, turn int, result string) tea.Msg {
	return told(sdk.KindEntrySet, loop, turn, fmt.Sprintf("log://turn_%d/bash/ls", turn), `{"state":"resolved"}`, result)
}

func endedRow(loop int64, stop string, status int) tea.Msg {
	return told(sdk.KindLoopEnded, loop, 0, "", fmt.Sprintf(`{"stop":%q,"status":%d}`, stop, status), "")
}
