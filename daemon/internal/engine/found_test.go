package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// tagging has the agent default of a house write calls as tags, of the verbs and of the tools there are.
func (h *house) tagging() *house {
	h.withVerbs()
	agent := h.agents["default"]
	agent.Dialect = sdk.DialectTags
	h.agents["default"] = agent
	return h
}

// TestWhatStandsInTheAnswerIsNotStoredAgain: an action tells its arguments, and its entry does not hold what stands in the answer.
func TestWhatStandsInTheAnswerIsNotStoredAgain(t *testing.T) {
	body := strings.Repeat("a line\n", 30) + theSecret + " \"more\""
	text := "I write.\n<set path=\"known://a\">" + body + "</set>\n<write>{\"path\":\"b\",\"text\":" + string(encode(body)) + "}</write>"
	h := prepareHiding(t, say(text), say("done")).house.tagging()
	h.start()
	a := h.submit(Submission{Mode: sdk.ModeFull})
	h.await(a)
	kept := strings.ReplaceAll(body, theSecret, hiddenMark)
	wants := []string{`{"body":` + string(encode(kept)) + `,"path":"known://a"}`, `{"path":"b","text":` + string(encode(kept)) + `}`}
	actions := h.actions(a.Run.ID)
	if len(actions) != len(wants) {
		t.Fatalf("%d actions", len(actions))
	}
	for i, want := range wants {
		if got, err := sdk.ActionOf(actions[i]); err != nil || string(got.Arguments) != want || got.Refers != nil {
			t.Errorf("action %d has %s, and %v: %v", i+1, got.Arguments, got.Refers, err)
		}
	}
	if got := string(h.tools.made[0].Arguments); got != `{"path":"b","text":`+string(encode(body))+`}` {
		t.Errorf("it was called with %s", got)
	}
	reply, err := sdk.ReplyOf(h.entries(a.Run.ID, "assistant://1")[0].Attributes)
	if err != nil || len(reply.Found) != 2 || len(reply.Found[0].Texts) != 1 || len(reply.Found[1].Quoted) != 1 || reply.Calls != nil {
		t.Errorf("the reply has %+v, %v", reply, err)
	}
	h.check(a.Run.ID)
}

// TestBytesOfATurnOfTags holds what a turn adds to the file, half of whose text is the bodies of entries, to less than twice its text
// with one body, and to what it is with four: each action and each entry has rows of its own.
func TestBytesOfATurnOfTags(t *testing.T) {
	const turns, text = 40, 8 << 10
	for _, c := range []struct{ entries, most int }{{1, 2 * text}, {4, 5 * text / 2}} {
		step := func(n int) step {
			var b strings.Builder
			for i := range c.entries {
				fmt.Fprintf(&b, "%s\n<set path=\"unknown://%d/%d\">%s</set>\n", words(n+i, 3500/c.entries), n, i, words(n-i, text/2/c.entries))
			}
			const update = "\n<update status=\"102\">I go on.</update>"
			return say(b.String() + words(n, text-b.Len()-len(update)) + update)
		}
		each := (taggedFile(t, turns, step) - taggedFile(t, 0, step)) / turns
		t.Logf("with %d entries a turn takes %d bytes, %.2f of its text", c.entries, each, float64(each)/text)
		if each >= int64(c.most) {
			t.Errorf("with %d entries a turn takes %d bytes; the most is %d", c.entries, each, c.most)
		}
	}
}

// words is a text of so many bytes, which is another for each n.
func words(n, length int) string {
	return strings.Repeat(fmt.Sprintf("words of %d ", n), max(length, 0)/9+1)[:max(length, 0)]
}

func taggedFile(t *testing.T, turns int, script func(n int) step) int64 {
	t.Helper()
	h := prepareHouse(t).tagging()
	for n := range turns {
		h.models.steps = append(h.models.steps, script(n))
	}
	h.models.steps = append(h.models.steps, say("done"))
	return h.size(t)
}
