package daemon

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestTelegramGoesBack: the run that /resume names is the one that the next prompt goes to, and so is the one in whose folder
// a file lies that came with a prompt.
func TestTelegramGoesBack(t *testing.T) {
	t.Parallel()
	c := newChatting(t)
	ctx := context.Background()
	runs := func() (ids []string) {
		t.Helper()
		all, err := c.client.Runs(ctx, rpc.RunsParams{})
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range all {
			ids = append(ids, fmt.Sprint(run.ID))
		}
		return ids
	}
	document := func(caption string) (name string) {
		id := c.telegram.Write(map[string]any{"from": map[string]any{"id": 7}, "chat": map[string]any{"id": 7, "type": "private"}, "date": 1700000000, "caption": caption,
			"document": map[string]any{"file_id": "d", "file_name": caption + ".txt", "file_size": 20}})
		c.shows(7, "you said: "+caption)
		return fmt.Sprintf("%d-%s.txt", id, caption)
	}
	lies := func(run, name string) {
		t.Helper()
		if _, err := c.client.FetchFile(ctx, run, "", name); err != nil {
			t.Errorf("%s of the run %s: %v", name, run, err)
		}
	}

	first := document("first")
	one := runs()
	if len(one) != 1 {
		t.Fatalf("the first prompt made the runs %v", one)
	}
	lies(one[0], first)
	c.telegram.Says(7, "/new")
	c.shows(7, "The next prompt begins anew.")
	c.telegram.Says(7, "second")
	c.shows(7, "you said: second")
	c.telegram.Says(7, "/resume "+one[0])
	c.shows(7, "The next prompt goes on there: ")
	c.telegram.Says(7, "back")
	c.shows(7, "you said: back")
	lies(one[0], document("there"))
	if all := runs(); len(all) != 2 {
		t.Errorf("two conversations have the runs %v", all)
	}
	prompts, err := c.client.Prompts(ctx, rpc.PromptsParams{Run: one[0]})
	if err != nil || len(prompts.Prompts) != 3 || !strings.HasPrefix(prompts.Prompts[0].Prompt, "there") {
		t.Errorf("the first run has the prompts %+v %v", prompts.Prompts, err)
	}
	c.whole()
}
