package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/view/packet"
	"github.com/bothyd/bothy/sdk"
)

// TestWhatIsWrittenIsShownNext: after every write of a model the next packet has the text and the level as they were written.
//
// spec: filesystem_freshness
func TestWhatIsWrittenIsShownNext(t *testing.T) {
	h := prepareHouse(t)
	h.withVerbs()
	h.config.Views[sdk.ViewPacket] = packet.New(packet.Config{Scheme: h.store.Scheme}, h.config.Hooks)
	h.agents["packet"] = sdk.Agent{Dialect: sdk.DialectTags, View: sdk.ViewPacket, Guards: sdk.Guards{MaxTurns: 99}}
	h.start()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		know := map[string]shownAt{}
		var steps []step
		for n := range rapid.IntRange(1, 12).Draw(rt, "turns") {
			answer := change(rt, know, n)
			want := map[string]shownAt{}
			for path, at := range know {
				want[path] = at
			}
			steps = append(steps, say(answer+`<update status="102">on</update>`))
			steps = append(steps, func(ctx context.Context, r sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
				text := r.Messages[len(r.Messages)-1].Text
				for path, at := range want {
					at.check(t, answer, path, text)
				}
				return say(`<update status="102">seen</update>`)(ctx, r, send, retry)
			})
		}
		h.models.mu.Lock()
		h.models.steps = append(steps, say(`<update status="200">done</update>`))
		h.models.mu.Unlock()
		run++
		a := h.submit(Submission{Agent: "packet", Run: fmt.Sprintf("fresh%d", run)})
		if l := h.await(a); l.Status != sdk.StatusOK || t.Failed() {
			rt.Fatalf("ended %d: %s", l.Status, l.Reason)
		}
	})
}

// shownAt is an entry as it was written.
type shownAt struct {
	body  string
	level sdk.Visibility
}

// change draws a write of one of a few entries, makes it of what is known, and is the call.
func change(rt *rapid.T, know map[string]shownAt, n int) string {
	path := rapid.SampledFrom([]string{"known://a", "known://b", "known://c/d"}).Draw(rt, "path")
	level := rapid.SampledFrom([]sdk.Visibility{sdk.Visible, sdk.Summarized, sdk.Archived}).Draw(rt, "level")
	word := fmt.Sprintf("word-%d.", n)
	was, there := know[path]
	kind := "write"
	if there {
		kind = rapid.SampledFrom([]string{"write", "level", "edit", "append", "move", "copy", "remove", "get", "get at a level", "move to a level"}).Draw(rt, "kind")
	}
	to := "known://to"
	switch kind {
	case "level":
		know[path] = shownAt{was.body, level}
		return fmt.Sprintf(`<set path="%s" visibility="%s"/>`, path, level)
	case "edit":
		know[path] = shownAt{word, level}
		return fmt.Sprintf("<set path=\"%s\" visibility=\"%s\"><<SEARCH\n%s\nSEARCH\n<<REPLACE\n%s\nREPLACE</set>", path, level, was.body, word)
	case "append":
		know[path] = shownAt{was.body + word, sdk.Visible}
		return fmt.Sprintf(`<set path="%s" append>%s</set>`, path, word)
	case "move":
		delete(know, path)
		know[to] = shownAt{was.body, level}
		return fmt.Sprintf(`<mv path="%s" to="%s" visibility="%s"/>`, path, to, level)
	case "copy":
		know[to] = shownAt{was.body, level}
		return fmt.Sprintf(`<cp path="%s" to="%s" visibility="%s"/>`, path, to, level)
	case "remove":
		delete(know, path)
		return fmt.Sprintf(`<rm path="%s"/>`, path)
	case "get at a level":
		know[path] = shownAt{was.body, level}
		return fmt.Sprintf(`<get path="%s" visibility="%s"/>`, path, level)
	case "move to a level":
		know[path] = shownAt{was.body, level}
		return fmt.Sprintf(`<mv path="%s" visibility="%s"/>`, path, level)
	case "get":
		know[path] = shownAt{was.body, sdk.Visible}
		return fmt.Sprintf(`<get path="%s"/>`, path)
	}
	know[path] = shownAt{word, level}
	return fmt.Sprintf(`<set path="%s" visibility="%s">%s</set>`, path, level, word)
}

// check looks for an entry in the sections of a packet.
func (s shownAt) check(t *testing.T, answer, path, text string) {
	t.Helper()
	for section, is := range map[string]bool{"summary": s.level != sdk.Archived, "visible": s.level == sdk.Visible} {
		_, rest, _ := strings.Cut(text, "\n<"+section+">\n")
		part, _, _ := strings.Cut(rest, "\n</"+section+">")
		has := false
		for line := range strings.SplitSeq(part, "\n<known ") {
			has = has || strings.Contains(line, `path="`+path+`"`) && strings.Contains(line, ">"+s.body+"<")
		}
		if has != is {
			t.Errorf("after %s the section %s has %s as %q: %v, want %v\n%s", answer, section, path, s.body, has, is, part)
		}
	}
}
