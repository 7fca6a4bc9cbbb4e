package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/plugins/telegram/telegramtest"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/sdktest"
)

// configuredFor is the plugin as the daemon configures it, for a server.
func configuredFor(t *testing.T, url string) *telegram {
	t.Helper()
	channel := &telegram{}
	if err := plugin.Decode(fmt.Appendf(nil, `{"token":%q,"api":%q}`, telegramtest.Token, url), &channel.settings); err != nil {
		t.Fatal(err)
	}
	if err := channel.configure(t.Context(), sdk.Settings{Instance: "telegram"}); err != nil {
		t.Fatal(err)
	}
	return channel
}

// TestContract holds the plugin to the contract of its kind, over the wire between daemon and plugins: with a token,
// without one, and where Telegram is not.
func TestContract(t *testing.T) {
	gone := telegramtest.New(t)
	gone.Plan("getMe", slices.Repeat([]telegramtest.Answer{telegramtest.Refusal(502, "Bad Gateway")}, 1000)...)
	for name, impl := range map[string]*telegram{
		"configured":     configuredFor(t, telegramtest.New(t).URL),
		"not configured": {},
		"no Telegram":    configuredFor(t, gone.URL),
	} {
		t.Run(name, func(t *testing.T) { sdktest.Channel(t, impl, scheme) })
	}
}

// TestLent: what the plugin does with messages is nothing that a daemon refuses, and nothing that would come twice.
func TestLent(t *testing.T) {
	server := telegramtest.New(t)
	lender := &sdktest.Lender{People: []string{"7"}, Code: "AAAA-BBBB", Schemes: []string{scheme}}
	access := lender.Access(t)
	server.Says(8, "hello")
	server.Says(8, "aaaa-bbbb")
	server.Says(7, "one")
	server.Write(map[string]any{"from": map[string]any{"id": 7}, "chat": map[string]any{"id": 7, "type": "private"}, "date": 1700000000, "caption": "two",
		"document": map[string]any{"file_id": "d", "file_name": "list.txt", "file_size": 20}})
	server.Write(inGroup(7, 3, "@test_bot three", nil))
	for range 2 { // the second time it is told to begin anew, as after a reload of the configuration
		channel, asked := configuredFor(t, server.URL), len(server.Calls("getUpdates"))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- channel.Serve(ctx, access, func(string) {}) }()
		late := time.After(time.Minute)
		for {
			changed := server.Changed()
			if server.Waiting() == 0 && len(server.Calls("getUpdates")) > asked {
				break
			}
			select {
			case <-changed:
			case err := <-ended:
				t.Fatalf("it ended: %v", err)
			case <-late:
				t.Fatalf("%d messages are not taken", server.Waiting())
			}
		}
		cancel()
		<-ended
	}
	var taken []string
	for _, p := range lender.Prompts() {
		taken = append(taken, p.From.Conversation+p.From.Thread+" "+p.Prompt)
	}
	slices.Sort(taken)
	if want := []string{" one", " two\n\nFiles that came with this: /workspace/4-list.txt", "-1003 three"}; !slices.Equal(taken, want) {
		t.Errorf("the daemon was given %q", taken)
	}
	if c := lender.Claims(); len(c) != 1 || c[0].From.Person != "8" {
		t.Errorf("claims %+v", c)
	}
	if kept := lender.Kept(); len(kept) != 2 || kept[scheme+"://7"] == "" || kept[scheme+"://g100-3"] == "" {
		t.Errorf("kept %v", kept)
	}
	files := lender.Files()
	for _, p := range lender.Prompts() { // the one with a file goes to the run in whose folder that is
		if _, there := files[p.Run+"/4-list.txt"]; there != strings.HasPrefix(p.Prompt, "two") || len(files) != 1 {
			t.Errorf("the run %q of %q; files %v", p.Run, p.Prompt, files)
		}
	}
	for _, m := range lender.Mistakes() {
		t.Error(m)
	}
}
