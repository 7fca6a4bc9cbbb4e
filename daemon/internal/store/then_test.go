package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// What a run had at any time is had again, or the hash of what is gone: never another text, whatever was written since, in a fork
// too.
func TestEntriesAtAreThoseOfThen(t *testing.T) {
	dir := memoryDir(t)
	rapid.Check(t, func(rt *rapid.T) {
		h := newRetold(rt, dir)
		defer func() { _ = h.Close() }()
		parent := &remembered{retold: h}
		parent.keep()
		for range rapid.IntRange(1, 8).Draw(rt, "commits") {
			parent.write()
		}
		own := parent
		if rapid.Bool().Draw(rt, "fork") {
			child, err := h.CreateRun(rt.Context(), sdk.Run{Project: h.run.Project, Parent: h.run.ID})
			if err != nil {
				rt.Fatal(err)
			}
			forked := *h
			forked.run = child
			own = &remembered{retold: &forked}
			own.keep()
			for range rapid.IntRange(0, 5).Draw(rt, "commits of the fork") {
				own.write()
				if rapid.Bool().Draw(rt, "its parent goes on") {
					parent.write()
				}
			}
		}
		own.check()
		parent.check()
	})
}

// remembered is a run with what it had after each commit.
type remembered struct {
	*retold
	at  []int64
	had [][]sdk.Entry
}

func (r *remembered) keep() {
	all, err := r.Entries(r.rt.Context(), sdk.EntryQuery{Run: r.run.ID})
	if err != nil {
		r.rt.Fatal(err)
	}
	r.at, r.had = append(r.at, r.Seq()), append(r.had, all)
}

func (r *remembered) write() {
	w := r.aWrite(0)
	if rapid.IntRange(0, 5).Draw(r.rt, "long") == 0 && w.Body != nil {
		w.Attributes = object(`{"long":"` + strings.Repeat(*w.Body, 5000) + `"}`)
	}
	if rapid.IntRange(0, 5).Draw(r.rt, "look") == 0 {
		w = sdk.Write{Path: w.Path, Look: true, Visibility: sdk.Summarized}
	}
	r.commit(sdk.Change{Writes: []sdk.Write{w}})
	r.keep()
}

func (r *remembered) check() {
	for i, seq := range r.at {
		then, err := r.EntriesAt(r.rt.Context(), r.run.ID, seq)
		if err != nil {
			r.rt.Fatal(err)
		}
		got, want := thenPaths(then), nowPaths(r.had[i])
		if r.run.Parent != 0 { // of what a fork took away nobody knows which came first
			slices.Sort(got)
			slices.Sort(want)
		}
		if !slices.Equal(got, want) {
			r.rt.Fatalf("after commit %d the run %d had %v, and is said to have had %v", i, r.run.ID, want, got)
		}
		for _, e := range r.had[i] {
			j := slices.IndexFunc(then, func(t sdk.EntryThen) bool { return t.Path == e.Path })
			if what := differs(then[j], e); what != "" {
				r.rt.Fatalf("after commit %d: %s, of %+v, was %+v", i, what, then[j], e)
			}
		}
	}
}

// differs says in what an entry is not what it was, and does not say so.
func differs(then sdk.EntryThen, was sdk.Entry) string {
	unnamed := slices.Contains(then.Gone, "")
	switch {
	case unnamed:
		return "" // of the parent, whose journal has it
	case then.Visibility != was.Visibility || then.State != was.State || then.Turn != was.Turn:
		return "its view"
	case then.Body != was.Body && !(then.Body == "" && slices.Contains(then.Gone, was.Hash)):
		return "its body"
	}
	var a, b map[string]json.RawMessage
	_ = json.Unmarshal(orEmptyObject(then.Attributes), &a)
	_ = json.Unmarshal(orEmptyObject(was.Attributes), &b)
	for name, value := range b {
		sum := sha256.Sum256(value)
		if string(a[name]) != string(value) && !(a[name] == nil && slices.Contains(then.Gone, hex.EncodeToString(sum[:]))) {
			return "the attribute " + name
		}
	}
	if len(a) > len(b) {
		return "an attribute that it had not"
	}
	return ""
}

func orEmptyObject(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

func thenPaths(all []sdk.EntryThen) (paths []string) {
	for _, e := range all {
		paths = append(paths, e.Path)
	}
	return paths
}

func nowPaths(all []sdk.Entry) (paths []string) {
	for _, e := range all {
		paths = append(paths, e.Path)
	}
	return paths
}

// Of a text that was overwritten, or whose entry is gone, there is the hash; what is still held somewhere is there.
func TestEntriesAtNameWhatIsGone(t *testing.T) {
	f := newFixture(t)
	f.commit(known("known://a", "one"), known("known://b", "stays"), known("known://c", "goes"))
	at := f.Seq()
	f.commit(known("known://a", "two"), known("known://d", "new"))
	f.commit(sdk.Write{Path: "known://c", Remove: true, Writer: sdk.WriterModel})
	then, err := f.EntriesAt(t.Context(), f.run.ID, at)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range then {
		got = append(got, fmt.Sprintf("%s %q %v", e.Path, e.Body, e.Gone))
	}
	one, goes := sha256.Sum256([]byte("one")), sha256.Sum256([]byte("goes"))
	want := []string{
		fmt.Sprintf(`known://a "" [%x]`, one), `known://b "stays" []`, fmt.Sprintf(`known://c "" [%x]`, goes),
	}
	if !slices.Equal(got, want) {
		t.Errorf("the run had\n%s\nwanted\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if none, err := f.EntriesAt(t.Context(), f.run.ID, 1); err != nil || len(none) != 0 {
		t.Errorf("before anything was written: %v, %v", none, err)
	}
}

// TestWhatIsForgottenWasTold: with what an owner takes away go the system texts that told it in all runs of theirs, forks among them,
// and no other; what a run had then has the hash.
func TestWhatIsForgottenWasTold(t *testing.T) {
	f := newFixture(t)
	if err := f.RegisterScheme(t.Context(), sdk.Scheme{Name: "fact", Category: sdk.CategoryData, Scope: "owner", WritableBy: []sdk.Writer{sdk.WriterPlugin}}); err != nil {
		t.Fatal(err)
	}
	system := func(path, text string) sdk.Write {
		return sdk.Write{Path: path, Body: &text, Writer: sdk.WriterSystem, Visibility: sdk.Archived}
	}
	told := "<memory>\n- town: Utrecht &amp; around\n</memory>"
	f.commit(system(sdk.SystemTextPath("aa"), told), system(sdk.SystemTextPath("bb"), "be kind"))
	value := "Utrecht & around"
	f.commit(sdk.Write{Path: "fact://town/1", Body: &value, Writer: sdk.WriterPlugin})
	fork := f.newRun(sdk.Run{Parent: f.run.ID})
	at := f.Seq()
	f.commit(sdk.Write{Path: "fact://town/1", Remove: true, Writer: sdk.WriterPlugin})
	for _, run := range []int64{f.run.ID, fork.ID} {
		left, err := f.Entries(t.Context(), sdk.EntryQuery{Run: run, Pattern: "system://**"})
		if err != nil || len(left) != 1 || left[0].Body != "be kind" {
			t.Errorf("the run %d has %+v, %v", run, left, err)
		}
	}
	if n := f.count(`SELECT count(*) FROM entries WHERE instr(body, 'Utrecht')`); n != 0 {
		t.Errorf("%d texts are left", n)
	}
	then, err := f.EntriesAt(t.Context(), f.run.ID, at)
	sum := sha256.Sum256([]byte(told))
	if err != nil || then[0].Path != sdk.SystemTextPath("aa") || !slices.Equal(then[0].Gone, []string{hex.EncodeToString(sum[:])}) {
		t.Errorf("%+v, %v", then, err)
	}
	f.verify()
}

// TestAShortFactTakesNoOtherTexts: a fact of a few letters was told where a line says it, and not wherever these letters stand.
func TestAShortFactTakesNoOtherTexts(t *testing.T) {
	long := "lives in a house by the canal"
	for _, c := range []struct {
		system, fact string
		told         bool
	}{
		{"<memory>\n- language: go\n</memory>", "go", true},
		{"<memory>\n- town: Utrecht\n</memory>", "Utrecht", true},
		{"go", "go", true},
		{"- go", "go", true},
		{"go\nand more", "go", true},
		{"You may go on. To go: where?\ngo on\n- goal: gone\nergo", "go", false},
		{"- language: go and rust\n", "go", false},
		{"gogogo gogo: go.\n- x: gogo", "go", false},
		{"- gogo: x\n- y: go\n", "go", true},
		{"- key: a &lt; b\n", "a < b", true},
		{"the text (" + long + ") in the middle", long, true},
		{"", "go", false},
	} {
		if got := tells(c.system, c.fact) || tells(c.system, inText.Replace(c.fact)); got != c.told {
			t.Errorf("%q tells %q: %v", c.system, c.fact, got)
		}
	}
	f := newFixture(t)
	if err := f.RegisterScheme(t.Context(), sdk.Scheme{Name: "fact", Category: sdk.CategoryData, Scope: "owner", WritableBy: []sdk.Writer{sdk.WriterPlugin}}); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"aa": "<memory>\n- language: go\n</memory>", "bb": "When tests pass you may go on."} {
		f.commit(sdk.Write{Path: sdk.SystemTextPath(path), Body: &text, Writer: sdk.WriterSystem, Visibility: sdk.Archived})
	}
	f.commit(sdk.Write{Path: "fact://language/1", Body: new("go"), Writer: sdk.WriterPlugin})
	f.commit(sdk.Write{Path: "fact://language/1", Remove: true, Writer: sdk.WriterPlugin})
	left, err := f.Entries(t.Context(), sdk.EntryQuery{Run: f.run.ID, Pattern: "system://**"})
	if err != nil || len(left) != 1 || left[0].Path != sdk.SystemTextPath("bb") {
		t.Errorf("left is %+v, %v", left, err)
	}
	f.verify()
}

// TestSystemTextsOfOldRunsAreNotGone: a run of before schema 16 has its last system text under another name, and lacks nothing.
func TestSystemTextsOfOldRunsAreNotGone(t *testing.T) {
	f := newFixture(t)
	f.commit(known("known://a", "one"), sdk.Write{Path: formerSystemText, Body: new("be kind"), Writer: sdk.WriterSystem, Visibility: sdk.Archived})
	f.commit(sdk.Write{Path: formerSystemText, Body: new("be brief"), Writer: sdk.WriterSystem, Visibility: sdk.Archived})
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.conn.ExecContext(t.Context(), steps[15].sql); err != nil {
		t.Fatal(err)
	}
	fork := f.newRun(sdk.Run{Parent: f.run.ID})
	f.commit(known("known://a", "two"))
	for _, run := range []int64{f.run.ID, fork.ID} {
		then, err := f.EntriesAt(t.Context(), run, f.Seq())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range then {
			got = append(got, fmt.Sprintf("%s %s %v", e.Scheme(), e.Body, e.Gone))
		}
		want := []string{"known two []", "system be brief []"}
		if run == fork.ID {
			want[0] = "known one []"
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("the run %d had %q", run, got)
		}
	}
	f.verify()
}

// TestAFileOutOfSightHasNoTextThen: what the run had of it is what is known of the file, whenever its text went, and also when it is
// in sight again.
func TestAFileOutOfSightHasNoTextThen(t *testing.T) {
	f := newFixture(t)
	facts := sdk.FileFacts{Size: 4, Tokens: 1}
	if err := f.PutFiles(t.Context(), f.project.ID, []sdk.FileWrite{{Path: "a", Facts: &facts}}); err != nil {
		t.Fatal(err)
	}
	text := "text"
	f.commit(sdk.Write{Path: "a", Body: &text, Writer: sdk.WriterSystem, Visibility: sdk.Visible})
	down := f.commit(sdk.Write{Path: "a", Look: true, Visibility: sdk.Summarized, Writer: sdk.WriterSystem}).Seq
	look := func(why string) {
		t.Helper()
		then, err := f.EntriesAt(t.Context(), f.run.ID, down)
		if err != nil || len(then) != 1 {
			t.Fatal(then, err)
		}
		if e := then[0]; len(e.Gone) > 0 || e.Body != "" || e.Visibility != sdk.Summarized || !strings.Contains(string(e.Attributes), `"size":4`) {
			t.Errorf("%s: %+v", why, e)
		}
	}
	look("at once")
	f.commit(sdk.Write{Path: "a", Body: &text, Writer: sdk.WriterSystem, Visibility: sdk.Visible})
	look("in sight again")
}
