package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// written is a store with a bit of everything in its journal.
func written(t *testing.T) *fixture {
	f := newFixture(t)
	l := f.enqueue(f.run.ID, "the prompt")
	f.claim(f.run.ID)
	_, err := f.Commit(t.Context(), sdk.Change{
		Run:      f.run.ID,
		OpenTurn: &sdk.Turn{Loop: l.ID},
		Writes: []sdk.Write{
			{Path: "log://turn_1/bash/x", Writer: sdk.WriterSystem, State: sdk.StateStreaming, Phase: sdk.PhaseRecorded, Attributes: object(`{"tool":"bash","arguments":{"command":"` + strings.Repeat("l", 200) + `"}}`)},
			{Path: "log://turn_1/bash/x", Writer: sdk.WriterSystem, Phase: sdk.PhaseStarted},
			{Path: "log://turn_1/bash/x", Writer: sdk.WriterPlugin, Chunk: &sdk.Chunk{Channel: 1, Text: "streamed"}},
			known("known://a", "the body of a"),
		},
		Notes: []sdk.Note{{Kind: "note.retry", Loop: l.ID, Turn: 1, Data: map[string]any{"z": 1, "a": json.RawMessage(`{"y":2, "b":"<"}`)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestJournalTellsEverythingInOrder(t *testing.T) {
	f := written(t)
	rows, err := f.Journal(t.Context(), sdk.JournalQuery{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"project.created", "run.created", "loop.queued", "entry.set", "loop.started", "run.status", "turn.opened",
		"entry.set", "entry.set", "entry.chunk", "entry.set", "note.retry",
	}
	if len(rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(rows), len(want))
	}
	for i, r := range rows {
		if r.Kind != want[i] || r.Seq != int64(i+1) || r.Project != f.project.ID || (r.Run == 0) != (i == 0) {
			t.Errorf("row %d is %+v, want %s", i+1, r, want[i])
		}
		if i > 0 && r.Prev != rows[i-1].Hash {
			t.Errorf("row %d does not follow", i+1)
		}
	}
	if d := string(rows[5].Data); d != `{"from":100,"to":102}` {
		t.Error(d)
	}
	if d := string(rows[11].Data); d != `{"a":{"b":"<","y":2},"z":1}` {
		t.Error(d)
	}
	if b := rows[3].Body; b == nil || *b != "the prompt" || rows[3].BodyHash == "" {
		t.Errorf("%+v", rows[3])
	}
	if rows[8].Body != nil || rows[8].BodyHash != "" {
		t.Errorf("a row that wrote no body has one: %+v", rows[8])
	}
	some, err := f.Journal(t.Context(), sdk.JournalQuery{After: 3, Limit: 2, Run: f.run.ID})
	if err != nil || len(some) != 2 || some[0].Seq != 4 || some[1].Seq != 5 {
		t.Errorf("%v %v", some, err)
	}
	if none, err := f.Journal(t.Context(), sdk.JournalQuery{Run: 99}); err != nil || none != nil {
		t.Errorf("%v %v", none, err)
	}
}

func TestJournalNamesLongValuesByHash(t *testing.T) {
	f := written(t)
	set := func() (sdk.EntryChange, string) {
		rows, err := f.Journal(t.Context(), sdk.JournalQuery{After: 7, Limit: 1})
		if err != nil || rows[0].Path != "log://turn_1/bash/x" {
			t.Fatalf("%v %v", rows, err)
		}
		var c sdk.EntryChange
		if err := json.Unmarshal(rows[0].Data, &c); err != nil {
			t.Fatal(err)
		}
		var stored string
		if _, err := (&tx{s: f.Store}).one(`SELECT data FROM journal WHERE seq = 8`, nil, &stored); err != nil {
			t.Fatal(err)
		}
		return c, stored
	}
	c, stored := set()
	if !strings.Contains(string(c.Attributes), "llll") || !strings.Contains(string(c.Attributes), `"tool":"bash"`) || len(c.Hashed) != 1 {
		t.Errorf("%s", c.Attributes)
	}
	if strings.Contains(stored, "llll") {
		t.Errorf("the journal keeps a long value: %s", stored)
	}
	f.commit(sdk.Write{Path: "log://turn_1/bash/x", Writer: sdk.WriterSystem, Attributes: object(`{"duration_ms":3}`)})
	if c, _ = set(); !strings.Contains(string(c.Attributes), "llll") || strings.Contains(string(c.Attributes), "duration") {
		t.Errorf("another write changed what this one set: %s", c.Attributes)
	}
	f.commit(sdk.Write{Path: "log://turn_1/bash/x", Writer: sdk.WriterSystem, Attributes: object(`{"arguments":null}`)})
	if c, _ = set(); string(c.Attributes) != `{"tool":"bash"}` || len(c.Hashed) != 1 {
		t.Errorf("a value that is gone is told: %s", c.Attributes)
	}
	f.verify()
}

func TestHeadsAreTheJournalWithoutWhatIsJoined(t *testing.T) {
	f := written(t)
	for _, run := range []int64{0, f.run.ID, 99} {
		rows, err := f.Journal(t.Context(), sdk.JournalQuery{After: 2, Limit: 8, Run: run})
		if err != nil {
			t.Fatal(err)
		}
		heads, err := f.Journal(t.Context(), sdk.JournalQuery{After: 2, Limit: 8, Run: run, Heads: true})
		if err != nil || len(heads) != len(rows) {
			t.Fatalf("%d heads of %d rows (%v)", len(heads), len(rows), err)
		}
		for i, h := range heads {
			r := rows[i]
			if h.Body != nil || strings.Contains(string(h.Data), "llll") {
				t.Errorf("a head brings along what is joined: %+v", h)
			}
			if h.Seq != r.Seq || h.Kind != r.Kind || h.Path != r.Path || h.Hash != r.Hash || h.BodyHash != r.BodyHash || h.Turn != r.Turn {
				t.Errorf("%+v is not %+v", h, r)
			}
		}
	}
}

func TestJournalJoinsABodyWhileItIsCurrent(t *testing.T) {
	f := newFixture(t)
	first := f.commit(known("known://a", "one")).Seq
	bodyOf := func() *string {
		rows, err := f.Journal(t.Context(), sdk.JournalQuery{After: first - 1, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		return rows[0].Body
	}
	if b := bodyOf(); b == nil || *b != "one" {
		t.Fatal(b)
	}
	f.commit(known("known://a", "two"))
	if b := bodyOf(); b != nil {
		t.Fatal(*b)
	}
	f.commit(sdk.Write{Path: "known://a", Writer: sdk.WriterModel, Remove: true})
	rows, err := f.Journal(t.Context(), sdk.JournalQuery{After: first})
	if err != nil || len(rows) != 2 || rows[0].Body != nil || rows[1].Kind != sdk.KindEntryRemoved || string(rows[1].Data) != `{"writer":"model"}` {
		t.Fatalf("%+v %v", rows, err)
	}
	f.verify() // what is forgotten still verifies
}

func TestEqualContentHasEqualHashes(t *testing.T) {
	at := func() time.Time { return time.Unix(1, 0) }
	var hashes [2]string
	for i, attributes := range []string{`{"a":1,"b":{"x":"é","y":[1,2]}}`, `{ "b": {"y":[1, 2],"x":"\u00e9"}, "a":1 }`} {
		f := newFixture(t)
		s := f.Store
		s.clock = at
		data := map[string]any{}
		for n := range 50 {
			data[fmt.Sprint((n+i*17)%50)] = n * 0
		}
		e := event{kind: "x", path: "p"}
		err := s.update(t.Context(), "x", func(t *tx) error {
			t.head = position{}
			var change sdk.EntryChange
			_, changed, err := mergeAttributes(nil, object(attributes))
			if err != nil {
				return err
			}
			if err := describeAttributes(&change, changed, longestInline); err != nil {
				return err
			}
			raw, err := canonical(map[string]any{"change": change, "data": data})
			if err != nil {
				return err
			}
			e.data = raw
			hash, _ := rowHash(nil, &digest{}, 1, t.now.UnixNano(), &e)
			hashes[i] = fmt.Sprintf("%x", hash)
			return errors.New("enough")
		})
		if err == nil {
			t.Fatal("committed")
		}
	}
	if hashes[0] != hashes[1] || hashes[0] == "" {
		t.Fatal(hashes)
	}
}

// The form of a row is a promise: a change of it needs a new rowForm.
func TestRowFormIsFrozen(t *testing.T) {
	sum := digest{1}
	for name, c := range map[string]struct {
		e    event
		want string
	}{
		"empty": {event{}, "7d92e7435d2d35866e14ee68d30faf22a51f17caa3ed19b1f09b14dcbf19abf3"},
		"full": {event{kind: "entry.set", project: 1, run: 2, loop: 3, turn: 4, path: "known://a", data: object(`{"a":1}`), body: &sum, entry: 9},
			"3419c241b01ed3285fa142c16447b75a2f88e58a304cc169ba845b1d3e2b270f"},
	} {
		got, _ := rowHash(nil, &digest{2}, 5, 6, &c.e)
		if s := fmt.Sprintf("%x", got); s != c.want {
			t.Errorf("%s: %s", name, s)
		}
	}
}

func TestVerifyNamesTheBadRow(t *testing.T) {
	flip := func(column string) string {
		return `SET ` + column + ` = CAST(substr(CAST(` + column + ` AS BLOB), 1, length(CAST(` + column + ` AS BLOB)) - 1) || x'58' AS TEXT)`
	}
	// Rows of written: 4 prompt, 8 recorded, 9 started, 10 chunk, 11 known://a.
	for name, c := range map[string]struct {
		damage string
		seq    int64
	}{
		"a body":               {`UPDATE entries ` + flip("body") + ` WHERE path = 'known://a'`, 11},
		"the prompt's body":    {`UPDATE entries ` + flip("body") + ` WHERE path = 'prompt://1'`, 4},
		"a body's hash":        {`UPDATE entries SET hash = zeroblob(32) WHERE path = 'known://a'`, 11},
		"a long attribute":     {`UPDATE entries SET attributes = replace(attributes, 'lll', 'llk') WHERE path LIKE 'log://%'`, 8},
		"a short attribute":    {`UPDATE entries SET attributes = replace(attributes, 'bash', 'cash') WHERE path LIKE 'log://%'`, 8},
		"a removed attribute":  {`UPDATE entries SET attributes = '{"tool":"bash"}' WHERE path LIKE 'log://%'`, 8},
		"no attributes":        {`UPDATE entries SET attributes = NULL WHERE path LIKE 'log://%'`, 8},
		"an invented one":      {`UPDATE entries SET attributes = json_insert(attributes, '$.x', 1) WHERE path LIKE 'log://%'`, 8},
		"a chunk":              {`UPDATE chunks ` + flip("text"), 10},
		"a row's data":         {`UPDATE journal ` + flip("data") + ` WHERE seq = 6`, 6},
		"a row's kind":         {`UPDATE journal SET kind = 'run.statut' WHERE seq = 6`, 6},
		"a row's time":         {`UPDATE journal SET time = time + 1 WHERE seq = 2`, 2},
		"a row's run":          {`UPDATE journal SET run = run + 1 WHERE seq = 2`, 2},
		"a row's loop":         {`UPDATE journal SET loop = loop + 1 WHERE seq = 3`, 3},
		"a row's turn":         {`UPDATE journal SET turn = turn + 1 WHERE seq = 3`, 3},
		"a row's project":      {`UPDATE journal SET project = project + 1 WHERE seq = 1`, 1},
		"a row's path":         {`UPDATE journal SET path = 'known://b' WHERE seq = 11`, 11},
		"a row's body hash":    {`UPDATE journal SET body_hash = zeroblob(32) WHERE seq = 4`, 4},
		"a row's hash":         {`UPDATE journal SET hash = zeroblob(32) WHERE seq = 5`, 5},
		"a row's prev":         {`UPDATE journal SET prev_hash = zeroblob(32) WHERE seq = 5`, 5},
		"a missing row":        {`DELETE FROM journal WHERE seq = 5`, 5},
		"the first row":        {`DELETE FROM journal WHERE seq = 1`, 1},
		"a body and a row":     {`UPDATE journal SET time = time + 1 WHERE seq = 12; UPDATE entries ` + flip("body") + ` WHERE path = 'known://a'`, 11},
		"a text moved between": {`UPDATE journal SET kind = kind || substr(path, 1, 1), path = substr(path, 2) WHERE seq = 11`, 11},
	} {
		t.Run(name, func(t *testing.T) {
			f := written(t)
			f.verify()
			f.damage(c.damage)
			var damage *sdk.JournalDamage
			err := f.Verify(t.Context(), 0)
			if !errors.As(err, &damage) || damage.Seq != c.seq || !strings.Contains(err.Error(), fmt.Sprintf("row %d:", c.seq)) {
				t.Fatalf("want row %d: %v", c.seq, err)
			}
			// The window that Open looks at sees it too, unless it ends before.
			if err := f.Verify(t.Context(), int(f.Seq()-c.seq)+1); !errors.As(err, &damage) || damage.Seq != c.seq {
				t.Fatalf("in the window: %v", err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			damaged := open(t, f.path)
			if err := damaged.Health(); !errors.As(err, &damage) || damage.Seq != c.seq {
				t.Fatalf("opened as if it were whole: %v", err)
			}
		})
	}
}
