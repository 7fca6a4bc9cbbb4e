package cassette

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// packets is a conversation whose requests have one message each, in which the results stand.
const packets = `{"format":1,"model":"m","steps":[
 {"request":[{"role":"user","text":"<prompt>go</prompt> & more"}],"events":[{"text":"<get path=\"a\"/>"},{"finish":{"reason":"stop"}}]},
 {"request":[{"role":"user","text":{"regex":"(?s)<visible>.*one"}}],"events":[{"call":{"index":0,"id":"a","tool":"get","arguments":"{}"}},{"finish":{"reason":"calls"}}]},
 {"request":[{"role":"user","text":{"any":true,"recorded":"<visible>two</visible>"}}],"events":[{"text":"done"},{"finish":{"reason":"stop"}}]}
]}`

// TestAUsersTextMayBeARule as a result is one, and stays what it is when it is written again.
func TestAUsersTextMayBeARule(t *testing.T) {
	c, err := Read(strings.NewReader(packets))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := c.Encode()
	if err != nil || !bytes.Contains(raw, []byte(`"text": "<prompt>go</prompt> & more"`)) {
		t.Fatalf("error %v\n%s", err, raw)
	}
	again, err := Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	strict, err := Read(bytes.NewReader(raw))
	if err == nil {
		strict.Steps[1].Request[0].Text = Says("<visible>two") // else it is compared as it is
		err = strict.Strict()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		c    *Cassette
		turn int
		text string
		says string // empty: it plays
	}{
		{again, 1, "<prompt>go</prompt> & more", ""},
		{again, 0, "<prompt>go</prompt> & more", ""},
		{again, 1, "<prompt>stop</prompt>", "message 1 (user) differs"},
		{again, 2, "<visible>\none</visible>", ""},
		{again, 2, "<visible>two</visible>", "step 2, message 1 (user) differs\n  expected: a match of (?s)<visible>.*one"},
		{again, 3, "whatever", ""},
		{again, 4, "whatever", "ends after 3 steps"},
		{again, 4, "<prompt>go</prompt> & more", ""}, // the turns before it were a person's own calls
		{strict, 3, "<visible>two</visible>", ""},
		{strict, 3, "whatever", "step 3, message 1 (user) differs"},
	} {
		s, d := x.c.Find(sdk.Request{Turn: x.turn, Messages: []sdk.Message{{Role: sdk.RoleSystem, Text: "be good"}, user(x.text)}})
		if (d == nil) != (x.says == "") || d != nil && !strings.Contains(d.Error(), x.says) || d == nil && len(s.Events) == 0 {
			t.Errorf("turn %d %q: %v", x.turn, x.text, d)
		}
	}
}

// TestStrictWantsTheUsersText where a cassette says of one that any will do, and not what it was.
func TestStrictWantsTheUsersText(t *testing.T) {
	c, err := Read(strings.NewReader(strings.Replace(packets, `,"recorded":"<visible>two</visible>"`, "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Strict(); err == nil || !strings.Contains(err.Error(), "step 3, request message 1: the cassette does not have the user's text") {
		t.Errorf("error %v", err)
	}
}
