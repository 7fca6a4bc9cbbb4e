package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bothyd/bothy/plugins/telegram/telegramtest"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func TestConversation(t *testing.T) {
	d := newDesk("7")
	c := talk(t, telegramtest.New(t), d)
	for _, step := range []struct{ says, answer string }{
		{"/new", nothingYet},
		{"/resume", nothingYet},
		{"one", "You said: one"},
		{"/new", "The next prompt begins anew. /resume goes back."},
	} {
		c.telegram.Says(7, step.says)
		c.shows(7, step.answer)
	}
	d.do(func() {
		d.earlier = []rpc.RunSummary{{Run: sdk.Run{ID: 9}, Summary: "the second"}, {Run: sdk.Run{ID: 1}, Summary: "one"}}
	})
	for _, step := range []struct{ says, answer string }{
		{"/resume", "/resume NUMBER goes on with one:\n9 – the second\n1 – one"},
		{"/resume 3", "There is no 3 among the last.\n/resume NUMBER goes on with one:\n9 – the second\n1 – one"},
		{"/resume 9", "The next prompt goes on there: 9 – the second"},
		{"two", "You said: two"},
		{"three", "You said: three"},
	} {
		c.telegram.Says(7, step.says)
		c.shows(7, step.answer)
	}
	c.telegram.Says(7, "/resume 9")
	c.shows(7, "The next prompt goes on there: 9 – the second")
	d.do(func() { d.gone = "9" }) // a person deleted it
	c.telegram.Says(7, "four")
	c.shows(7, "You said: four")
	prompts := d.taken()
	if len(prompts) != 4 || prompts[3].Run != "" || prompts[0].Run != "" || prompts[1].Run != alias("9") || prompts[2].Run != "" {
		t.Errorf("%+v", prompts)
	}
	if !slices.Contains(d.asked, "run/leave 1") {
		t.Errorf("asked %v", d.asked)
	}
}

// TestLeftAtWork: a run that was left may wait for long, for an answer of a person say, and holds up no other.
func TestLeftAtWork(t *testing.T) {
	d := newDesk("7")
	d.say = func(p rpc.Prompt) []string {
		if p.Prompt == "first" {
			return nil
		}
		return []string{"You said: " + p.Prompt}
	}
	c := talk(t, telegramtest.New(t), d)
	c.telegram.Says(7, "first")
	c.shows(7, placeholder)
	c.telegram.Says(7, "/new")
	c.shows(7, "The next prompt begins anew. /resume goes back.")
	c.telegram.Says(7, "second")
	c.shows(7, "You said: second")
	d.do(func() { d.end(rpc.Accepted{ID: 1, Loop: 1}, "done") })
	c.until("both answers", func() bool { return c.telegram.Posts(7)[0].Text == "done" })
}

func TestStop(t *testing.T) {
	d := newDesk("7")
	d.say = func(rpc.Prompt) []string { return nil }
	c := talk(t, telegramtest.New(t), d)
	c.telegram.Says(7, "/stop")
	c.shows(7, "Nothing is being done.")
	c.telegram.Says(7, "long work")
	c.shows(7, placeholder)
	c.telegram.Says(7, "/new") // what is being done is ended all the same
	c.shows(7, "The next prompt begins anew. /resume goes back.")
	c.telegram.Says(7, "/stop")
	c.shows(7, "Stopped.")
	if got := fmt.Sprint(d.asked); got != "[run/leave 1 run/abort 1]" {
		t.Errorf("asked %s", got)
	}
}

// TestFiles: a file lies in the folder of the run that its prompt goes to, which is made where none goes on.
func TestFiles(t *testing.T) {
	d := newDesk("7")
	c := talk(t, telegramtest.New(t), d)
	document := func(caption string) map[string]any {
		return map[string]any{"from": map[string]any{"id": 7}, "chat": map[string]any{"id": 7, "type": "private"}, "date": 1700000000, "caption": caption,
			"document": map[string]any{"file_id": "d", "file_name": "../a list.txt", "file_size": 20}}
	}
	id := c.telegram.Write(document("read this"))
	came := fmt.Sprintf("Files that came with this: /workspace/%d-_a_list.txt", id)
	c.shows(7, "You said: read this\n\n"+came)
	c.telegram.Write(document(""))
	c.quiet()
	d.do(func() { d.commit(sdk.JournalRow{Kind: sdk.KindRunRested, Run: 1}, nil) })
	c.telegram.Write(document("again"))
	c.quiet()
	prompts := d.taken()
	if len(prompts) != 3 || prompts[0].Run != alias("1") || prompts[1].Run != alias("1") || prompts[2].Run == alias("1") || prompts[0].Quoted != len(came)+2 || prompts[0].Key != "" {
		t.Errorf("%+v", prompts)
	}
	want := fmt.Sprintf("1 %d-_a_list.txt: the contents of documents/d", id)
	if len(d.files) != 3 || d.files[0] != want || fmt.Sprint(d.asked) != "[startRun getRun 1 startRun]" {
		t.Errorf("files %q, asked %v", d.files, d.asked)
	}
}

// TestUnseenPicture: a model that takes no pictures has them as files.
func TestUnseenPicture(t *testing.T) {
	d := newDesk("7")
	d.unseeing = true
	c := talk(t, telegramtest.New(t), d)
	c.telegram.Write(map[string]any{"from": map[string]any{"id": 7}, "chat": map[string]any{"id": 7, "type": "private"}, "date": 1700000000,
		"photo": []map[string]any{{"file_id": "p", "file_size": 20}}})
	c.shows(7, "You said: Files that came with this: /workspace/photo-1.jpg")
}
