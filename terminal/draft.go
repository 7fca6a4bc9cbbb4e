package main

import (
	"os"
	"path/filepath"
)

// draftFile is where what was begun to be typed in a project waits.
func draftFile(state, project string) string {
	return filepath.Join(state, "draft-"+projectName(project))
}

// saveDraft keeps what was begun to be typed; nothing is the end of a draft.
func saveDraft(state, project, text string) {
	switch {
	case state == "":
	case text == "":
		_ = os.Remove(draftFile(state, project))
	case os.MkdirAll(state, 0o700) == nil:
		_ = os.WriteFile(draftFile(state, project), []byte(text), 0o600)
	}
}

// readDraft is what was begun to be typed when the person left.
func readDraft(state, project string) string {
	if state == "" {
		return ""
	}
	text, err := os.ReadFile(draftFile(state, project))
	if err != nil || len(text) > mostInput {
		return ""
	}
	return string(text)
}
