package store

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// hides is a Redactor of one secret.
type hides string

func (h hides) Redact(text string) string { return strings.ReplaceAll(text, string(h), "[secret]") }

func (h hides) JSON(raw json.RawMessage) json.RawMessage {
	if strings.Contains(string(raw), `"whole":`) { // as where all of it is one secret
		return json.RawMessage(`"[secret]"`)
	}
	return json.RawMessage(h.Redact(string(raw)))
}

func (h hides) RedactAround(text string, places []int) (clean string, moved []int) {
	for at, i := 0, 0; at < len(text); {
		for ; i < len(places) && places[i] <= at; i++ {
			moved = append(moved, len(clean))
		}
		if !strings.HasPrefix(text[at:], string(h)) {
			clean, at = clean+text[at:at+1], at+1
			continue
		}
		clean += "[secret]"
		for at += len(h); i < len(places) && places[i] < at; i++ {
			moved = append(moved, len(clean))
			clean += "[secret]"
		}
	}
	for len(moved) < len(places) {
		moved = append(moved, len(clean))
	}
	return clean, moved
}

// TestSecretsAreNotStored in whatever is written, and what a thing is found by is
// refused with one in it.
func TestSecretsAreNotStored(t *testing.T) {
	const secret = "hunter2hunter2"
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "bothy.db"), Options{Redact: hides(secret)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	p, err := s.OpenProject(t.Context(), "/p")
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.CreateRun(t.Context(), sdk.Run{Project: p.ID, Alias: "r"})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Store: s, t: t, run: run}
	l, _, err := s.Begin(t.Context(), sdk.Loop{
		Run: run.ID, Prompt: "say " + secret, Options: object(`{"env":"` + secret + `"}`), Meaning: &sdk.Meaning{Skill: "x", Text: secret},
	})
	if err != nil || l.Status != sdk.StatusRunning {
		t.Fatal(l, err)
	}
	given := body("it is " + secret)
	receipt := f.commit(
		sdk.Write{Path: "known://a", Writer: sdk.WriterModel, Body: given, Attributes: object(`{"k":"` + secret + `"}`)},
		sdk.Write{Path: "change://turn_1/x/y", Writer: sdk.WriterSystem, Body: body(`[{"path":"` + secret + `"}]`)},
		sdk.Write{Path: "log://turn_1/x/y", Writer: sdk.WriterSystem, State: sdk.StateStreaming, Attributes: object(`{"whole":1}`)},
		sdk.Write{Path: "log://turn_1/x/y", Writer: sdk.WriterSystem, Chunk: &sdk.Chunk{Channel: 1, Text: secret}},
	)
	if *given != "it is "+secret {
		t.Error("what the caller has was changed")
	}
	if got := receipt.Entries[0]; got.Body != "it is [secret]" || string(got.Attributes) != `{"k":"[secret]"}` {
		t.Errorf("the receipt tells %q %s", got.Body, got.Attributes)
	}
	if got := receipt.Entries[2].Attributes; len(got) > 0 && string(got) != `{}` {
		t.Errorf("attributes that are a secret as a whole are %s", got)
	}
	if err := s.Note(t.Context(), sdk.Note{Kind: sdk.KindNote, Data: map[string]string{"why": secret}}); err != nil {
		t.Error(err)
	}
	end := &sdk.LoopEnd{Loop: l.ID, Status: sdk.StatusFailed, Reason: secret}
	if _, err := s.Commit(t.Context(), sdk.Change{Run: run.ID, EndLoop: end}); err != nil || end.Reason != secret {
		t.Error(end.Reason, err)
	}
	for what, refused := range map[string]error{
		"a path": func() error {
			_, err := s.Commit(t.Context(), sdk.Change{Run: run.ID, Writes: []sdk.Write{known("known://"+secret, "x")}})
			return err
		}(),
		"a new run":              func() error { _, err := s.CreateRun(t.Context(), sdk.Run{Project: p.ID, Alias: secret}); return err }(),
		"a rename":               func() error { _, err := s.RenameRun(t.Context(), run.ID, secret); return err }(),
		"a note that is no JSON": s.Note(t.Context(), sdk.Note{Kind: sdk.KindNote, Data: func() {}}),
		"a note of another kind": s.Note(t.Context(), sdk.Note{Kind: sdk.KindLoopEnded}),
	} {
		if sdk.OutcomeOf(refused) != sdk.Validation || strings.Contains(refused.Error(), secret) {
			t.Errorf("%s: %v", what, refused)
		}
	}
	for _, table := range []string{"journal", "entries", "chunks", "loops", "runs"} {
		rows, err := s.conn.QueryContext(t.Context(), `SELECT * FROM `+table)
		if err != nil {
			t.Fatal(err)
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new([]byte)
			}
			if err := rows.Scan(values...); err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				if strings.Contains(string(*v.(*[]byte)), secret) {
					t.Errorf("%s.%s holds %s", table, columns[i], *v.(*[]byte))
				}
			}
		}
		_ = rows.Close()
	}
	f.verify()
}
