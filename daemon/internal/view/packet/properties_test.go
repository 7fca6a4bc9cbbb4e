package packet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"
	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/sdk"
)

// TestAPacketIsAFunctionOfTheEntries: a view that has rendered all the turns before gives the bytes of one that begins now,
// whatever changed between: bodies, levels, states, entries that came and that went.
//
// spec: materialization
func TestAPacketIsAFunctionOfTheEntries(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		old := newDesk()
		entries := []sdk.Entry{prompt(1, "task")}
		versions := 1
		text := rapid.StringMatching(`[a-z<>/&"ä:\n]{0,40}`)
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			versions++
			at := rapid.IntRange(0, len(entries)).Draw(r, "entry")
			switch {
			case at == len(entries):
				path := rapid.SampledFrom([]string{"known://%d", "unknown://%d", "update://turn_%d", "sh://turn_%d/x_1", "https://a.example/%d", "src/%d.go", "assistant://%d"}).Draw(r, "path")
				entries = append(entries, entry(fmt.Sprintf(path, versions), text.Draw(r, "body")))
			case at > 0 && rapid.IntRange(0, 5).Draw(r, "goes") == 0:
				entries = slices.Delete(slices.Clone(entries), at, at+1)
			default:
				entries = slices.Clone(entries)
				e := &entries[at]
				e.Version = versions
				e.Visibility = rapid.SampledFrom([]sdk.Visibility{sdk.Visible, sdk.Summarized, sdk.Archived}).Draw(r, "level")
				if rapid.Bool().Draw(r, "writes") {
					e.Body = text.Draw(r, "body")
					e.Hash = e.Body
				}
			}
			in := assembly(1, entries...)
			was, err := old.send(t, in)
			if err != nil {
				r.Fatal(err)
			}
			is, err := newDesk().send(t, in)
			if err != nil {
				r.Fatal(err)
			}
			if was.System != is.System || was.Messages[0].Text != is.Messages[0].Text || was.Tokens != is.Tokens {
				r.Fatalf("a view that was there gives\n%s\nand a new one\n%s", was.Messages[0].Text, is.Messages[0].Text)
			}
		}
	})
}

// TestWhateverStandsInEntriesIsReadBack: a reader that goes from the front finds each element of a list with its path and its text
// to the letter, and nothing else, whatever text and path are.
func TestWhateverStandsInEntriesIsReadBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.Custom(func(r *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
				"</known>", "</visible>", "<visible>\n", `<known path="x" tokens="0">`, ":::", "<<:::", "known://", "a", "~2", "\n", "/>", `"`, "&lt;", "</prompt>", ">",
			}), 0, 8).Draw(r, "parts"), "")
		})
		entries := []sdk.Entry{prompt(1, "task")}
		for i := range rapid.IntRange(1, 4).Draw(r, "entries") {
			path := "known://a" + strings.ReplaceAll(text.Draw(r, "path"), "\n", "") + fmt.Sprint(i)
			entries = append(entries, entry(path, text.Draw(r, "body")))
		}
		p, err := newDesk().send(t, assembly(1, entries...))
		if err != nil {
			r.Fatal(err)
		}
		rest := visibleOf(r, p.Messages[0].Text)
		for _, e := range entries[1:] {
			var path, body string
			if path, body, rest = readElement(r, rest); path != quoted.Replace(e.Path) || body != e.Body {
				r.Fatalf("of %q with %q is read %q with %q in\n%s", e.Path, e.Body, path, body, p.Messages[0].Text)
			}
		}
		if !strings.HasPrefix(rest, "</visible>\n<instructions>\n") {
			r.Fatalf("behind the elements is %q", rest)
		}
	})
}

// visibleOf reads a packet with a plain prompt up to the first element of its second list.
func visibleOf(r *rapid.T, text string) string {
	_, rest, _ := strings.Cut(text, "</prompt>\n<summary>\n")
	for strings.HasPrefix(rest, "<known ") {
		_, _, rest = readElement(r, rest)
	}
	before, rest, found := strings.Cut(rest, "</summary>\n<visible>\n")
	if !found || before != "" {
		r.Fatalf("the list does not end: %q", rest)
	}
	return rest
}

// readElement reads one element, as the system text says that it is to be read.
func readElement(r *rapid.T, text string) (path, body, rest string) {
	_, rest, _ = strings.Cut(text, ` path="`)
	path, rest, _ = strings.Cut(rest, `"`)
	attributes, rest, found := strings.Cut(rest, ">")
	switch {
	case !found:
		r.Fatalf("no element: %q", text)
	case strings.HasSuffix(attributes, "/"):
		return path, "", strings.TrimPrefix(rest, "\n")
	case strings.HasPrefix(rest, "<<:::"):
		mark, inner, _ := strings.Cut(rest[len("<<:::"):], "\n")
		body, rest, _ = strings.Cut(inner, "\n:::"+mark+"</known>\n")
	default:
		body, rest, _ = strings.Cut(rest, "</known>\n")
	}
	return path, body, rest
}

// TestAPluginThatHangs is not waited for in each turn: the pauses in which nobody asks it grow, and end when it answers.
func TestAPluginThatHangs(t *testing.T) {
	var asked atomic.Int32
	var well atomic.Bool
	chains := hook.New(hclog.NewNullLogger())
	d := desk{New(Config{
		Scheme:     schemes,
		Projectors: func() map[string]string { return map[string]string{"known": "one"} },
		Project: func(_ context.Context, e sdk.Entry, _ sdk.Visibility) (string, error) {
			asked.Add(1)
			if !well.Load() {
				return "", sdk.Errorf(sdk.Timeout, "no answer")
			}
			return "of " + e.Body, nil
		},
	}, chains), chains}
	in := assembly(1, prompt(1, "task"), entry("known://a", "one"))
	var turns []int
	for in.Turn = 1; in.Turn <= 20; in.Turn++ {
		before := asked.Load()
		inOrder(t, user(t, d, in), "known://a", "did not say what this shows")
		if asked.Load() > before {
			turns = append(turns, in.Turn)
		}
	}
	if want := []int{1, 3, 7, 15}; !slices.Equal(turns, want) {
		t.Errorf("it was asked in the turns %v, want %v", turns, want)
	}
	well.Store(true)
	in.Turn = 31
	inOrder(t, user(t, d, in), "of one")
	well.Store(false)
	in.Entries = append(in.Entries, entry("known://b", "two"))
	for in.Turn = 32; in.Turn <= 34; in.Turn++ {
		before := asked.Load()
		inOrder(t, user(t, d, in), "of one", "did not say what this shows")
		if is, want := asked.Load() > before, in.Turn != 33; is != want {
			t.Errorf("turn %d: asked is %v", in.Turn, is)
		}
	}
}

// TestManyEntriesOfAPluginThatHangs: those that wait their turn are not asked for when one was too late.
func TestManyEntriesOfAPluginThatHangs(t *testing.T) {
	var asked atomic.Int32
	chains := hook.New(hclog.NewNullLogger())
	d := desk{New(Config{
		Scheme:     schemes,
		Projectors: func() map[string]string { return map[string]string{"known": "one"} },
		Project: func(context.Context, sdk.Entry, sdk.Visibility) (string, error) {
			asked.Add(1)
			return "", sdk.Errorf(sdk.Timeout, "no answer")
		},
	}, chains), chains}
	in := assembly(1, prompt(1, "task"))
	for i := range 10 * projections {
		in.Entries = append(in.Entries, entry(fmt.Sprintf("known://%02d", i), "x"))
	}
	if text := user(t, d, in); strings.Count(text, "did not say what this shows") < 10*projections {
		t.Error("not all that is not known is told")
	}
	if n := asked.Load(); n > projections {
		t.Errorf("it was asked %d times in one turn, of which %d may be at once", n, projections)
	}
}

// TestPluginsSayWhatTheirEntriesShow: once for each version, within bounds; one that fails shows the path and says so, and is
// asked again in the next turn.
func TestPluginsSayWhatTheirEntriesShow(t *testing.T) {
	var asked atomic.Int32
	var broken atomic.Bool
	var projector atomic.Value
	projector.Store("one")
	chains := hook.New(hclog.NewNullLogger())
	d := desk{New(Config{
		Scheme:     schemes,
		Projectors: func() map[string]string { return map[string]string{"known": projector.Load().(string)} },
		Project: func(_ context.Context, e sdk.Entry, level sdk.Visibility) (string, error) {
			asked.Add(1)
			if broken.Load() {
				return "", errors.New("out of order")
			}
			if e.Body == "long" {
				return strings.Repeat("x", projectionBytes+1), nil
			}
			return string(level) + " of " + e.Body + " hunter2", nil
		},
		Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[gone]") },
	}, chains), chains}
	in := assembly(1, prompt(1, "task"), entry("known://a", "one"), entry("unknown://b", "two"), entry("known://gone", "three", level(sdk.Archived)))
	for range 2 {
		inOrder(t, user(t, d, in), "summarized of one [gone]", "visible of one [gone]", ">two</unknown>")
	}
	if asked.Load() != 2 {
		t.Errorf("the plugin was asked %d times", asked.Load())
	}
	projector.Store("another binary")
	inOrder(t, user(t, d, in), "summarized of one", "visible of one")
	if asked.Load() != 4 {
		t.Errorf("after the plugin was exchanged it was asked %d times in all", asked.Load())
	}
	projector.Store("") // it is gone
	inOrder(t, user(t, d, in), `>one</known>`)
	projector.Store("one")
	broken.Store(true)
	in.Entries[1].Version++
	inOrder(t, user(t, d, in), `<known path="known://a"`, "the plugin of known:// did not say what this shows: out of order")
	broken.Store(false)
	inOrder(t, user(t, d, in), "summarized of one", "visible of one")
	in.Context = 10_000_000
	in.Entries[1].Version++
	in.Entries[1].Body = "long"
	inOrder(t, user(t, d, in), fmt.Sprintf("[the first %d of %d bytes that the plugin of known:// showed]", projectionBytes, projectionBytes+1))
}

// TestAMarkIsNotInItsText: whatever numbers an entry's text has behind the marks of its own path, also where one mark begins within
// another.
func TestAMarkIsNotInItsText(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		path := rapid.SampledFrom([]string{"a", "a~:::a", ":::", "known://a~2", "~"}).Draw(r, "path")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{":::" + path, ":::" + path + "~", "~", "2", "3", "4", "25", "~2", ":::", "x"}), 0, 40).Draw(r, "pieces"), "")
		if mark := opaque(path, text); strings.Contains(text, ":::"+mark) {
			r.Fatalf("%q is in %q", mark, text)
		}
	})
	if got := opaque("a", ":::a~2 :::a~34"); got != "a~4" {
		t.Errorf("got %s", got)
	}
}
