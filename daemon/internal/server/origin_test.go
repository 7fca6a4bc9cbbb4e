package server

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestWhoseRunsAre is who owns what a channel has a prompt for, and who is refused; the daemon makes the owner, whatever the
// channel calls people.
func TestWhoseRunsAre(t *testing.T) {
	for name, c := range map[string]struct {
		from    *sdk.From
		outcome sdk.Outcome
		owner   string
	}{
		"a person":                         {from: ada, owner: "chat/ada"},
		"a person's topic":                 {from: &sdk.From{Person: "ada", Thread: "t", Message: "17"}, owner: "chat/ada"},
		"the person of this machine":       {from: &sdk.From{Person: "me"}, owner: sdk.LocalOwner},
		"a group":                          {from: &sdk.From{Person: "ada", Conversation: "-100"}, owner: "chat/group/-100"},
		"who owns this machine in a group": {from: &sdk.From{Person: "me", Conversation: "-100"}, owner: "chat/group/-100"},
		"a group called as a person":       {from: &sdk.From{Person: "me", Conversation: "../ada"}, owner: "chat/group/..%2Fada"},
		"nobody":                           {outcome: sdk.Validation},
		"no person":                        {from: &sdk.From{Conversation: "-100"}, outcome: sdk.Validation},
		"a stranger":                       {from: &sdk.From{Person: "eve"}, outcome: sdk.Permission},
		"a stranger in a group":            {from: &sdk.From{Person: "eve", Conversation: "-100"}, outcome: sdk.Permission},
		"the name of an owner":             {from: &sdk.From{Person: "chat/ada"}, outcome: sdk.Permission},
		"local":                            {from: &sdk.From{Person: sdk.LocalOwner}, outcome: sdk.Permission},
		"a person in other letters":        {from: &sdk.From{Person: "Ada"}, outcome: sdk.Permission},
		"a line break":                     {from: &sdk.From{Person: "ada\n"}, outcome: sdk.Validation},
		"what nobody sees":                 {from: &sdk.From{Person: "ada\u200b"}, outcome: sdk.Validation},
		"a long group":                     {from: &sdk.From{Person: "ada", Conversation: strings.Repeat("x", 129)}, outcome: sdk.Validation},
	} {
		t.Run(name, func(t *testing.T) {
			h := openChannel(t, "/p/one")
			a := h.channel(t)
			_, err := a.Act(t.Context(), rpc.Prompt{Project: "/p/one", Prompt: "go", Run: "x", From: c.from})
			_, asked := a.Ask(t.Context(), rpc.Prompt{Project: "/p/one", Prompt: "go", Run: "x", From: c.from})
			_, began := a.StartRun(t.Context(), rpc.StartRun{Project: "/p/one", Run: "x", From: c.from})
			injected := a.Call(t.Context(), rpc.MethodInject, rpc.Inject{Run: "7", Message: "go", From: c.from}, nil)
			called := a.Call(t.Context(), rpc.MethodCallTool, rpc.ToolCall{Project: "/p/one", Tool: "x", From: c.from}, nil)
			for what, err := range map[string]error{"act": err, "ask": asked, "startRun": began, "run/inject": injected, "tools/call": called} {
				fine := err == nil || what == "tools/call" && sdk.OutcomeOf(err) == sdk.Internal // there is none
				if c.outcome == "" && !fine || c.outcome != "" && sdk.OutcomeOf(err) != c.outcome {
					t.Errorf("%s: %v", what, err)
				}
			}
			want := []sdk.Origin(nil)
			if c.outcome == "" {
				one := sdk.Origin{Owner: c.owner, Channel: "chat"}
				want = []sdk.Origin{one, one, one}
			}
			if !slices.Equal(h.engine.origins, want) {
				t.Errorf("the prompts are of %+v", h.engine.origins)
			}
		})
	}
}

// TestOnlyChannelsSayFrom: whoever works at this machine is nobody else.
func TestOnlyChannelsSayFrom(t *testing.T) {
	h := open(t, nil)
	c := h.client(t)
	if _, err := c.Act(t.Context(), rpc.Prompt{Project: "/p/one", Prompt: "go", From: ada}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("got %v", err)
	}
	if _, err := c.Act(t.Context(), rpc.Prompt{Project: "/p/one", Prompt: "go"}); err != nil || !slices.Equal(h.engine.origins, []sdk.Origin{{Owner: sdk.LocalOwner}}) {
		t.Errorf("%+v, %v", h.engine.origins, err)
	}
}

// TestChannelsKnowNoOthersNames: a channel's runs have a beginning of their own, and of what others have it is told the
// same whether it is there or not.
func TestChannelsKnowNoOthersNames(t *testing.T) {
	h := openChannel(t, "/p/one")
	h.store.runs = append(h.store.runs, sdk.Run{ID: 12, Project: 1, Alias: "mine", Origin: sdk.Origin{Owner: sdk.LocalOwner}},
		sdk.Run{ID: 13, Project: 1, Alias: "other_x", Private: true, Origin: sdk.Origin{Owner: "other/bob", Channel: "other"}})
	c := h.channel(t)
	for asked, want := range map[string]string{"mine": "chat_mine", "new": "chat_new", "chat_new": "chat_new", "seven": "seven", "other_x": "chat_other_x", "7": "chat_7", "12": "chat_12", "": ""} {
		if _, err := c.Act(t.Context(), rpc.Prompt{Project: "/p/one", Prompt: "go", Run: asked, From: ada}); err != nil {
			t.Fatal(err)
		}
		if got := h.engine.prompts[len(h.engine.prompts)-1].Run; got != want {
			t.Errorf("the run %q is %q, want %q", asked, got, want)
		}
	}
	for _, there := range []string{"mine", "12", "other_x", "13", "tools"} {
		missing := strings.Map(func(c rune) rune {
			if c >= '0' && c <= '9' {
				return '9'
			}
			return 'z'
		}, there)
		said := map[string]string{}
		for _, run := range []string{there, missing} {
			err := c.Call(t.Context(), rpc.MethodRun, rpc.RunRef{Run: run, Project: "/p/one"}, nil)
			said[run] = strings.ReplaceAll(err.Error(), run, "")
		}
		if said[there] != said[missing] {
			t.Errorf("of %s it is told %q, and of %s, which is not there, %q", there, said[there], missing, said[missing])
		}
	}
	var list []rpc.RunSummary
	if err := c.Call(t.Context(), rpc.MethodRuns, rpc.RunsParams{Project: "/p/one", Hidden: true}, &list); err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if r.Channel != "chat" {
			t.Errorf("it is shown %s", r.Alias)
		}
	}
}

// TestRunsOfAConversation: a channel lists those of one, of people who are configured, and nobody else lists them so.
func TestRunsOfAConversation(t *testing.T) {
	h := openChannel(t, "/p/one")
	channel, desk := h.channel(t), open(t, nil).client(t)
	for name, c := range map[string]struct {
		from    *sdk.From
		outcome sdk.Outcome
		want    *sdk.Conversation
	}{
		"none":       {nil, "", nil},
		"a person":   {ada, "", &sdk.Conversation{Origin: sdk.Origin{Owner: "chat/ada", Channel: "chat"}, Name: "person/ada"}},
		"a topic":    {&sdk.From{Person: "ada", Conversation: "-1", Thread: "a/b"}, "", &sdk.Conversation{Origin: sdk.Origin{Owner: "chat/group/-1", Channel: "chat"}, Name: "group/-1/a%2Fb"}},
		"a stranger": {&sdk.From{Person: "eve"}, sdk.Permission, nil},
	} {
		h.store.of = nil
		_, err := channel.Runs(t.Context(), rpc.RunsParams{Project: "/p/one", From: c.from, Limit: 5})
		if err != nil && sdk.OutcomeOf(err) != c.outcome || err == nil && c.outcome != "" || !reflect.DeepEqual(h.store.of, c.want) {
			t.Errorf("%s: %v, asked for %+v", name, err, h.store.of)
		}
	}
	if _, err := desk.Runs(t.Context(), rpc.RunsParams{From: ada}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("at the terminal: %v", err)
	}
}
