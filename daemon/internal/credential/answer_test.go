package credential

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// answers are those of a fixture whose configuration asks for three keys.
func answers(f *fixture) (a Answers, reloads *int) {
	reloads = new(int)
	return Answers{
		Keys: f.Keys,
		Uses: func() map[string][]string {
			return map[string][]string{"A_KEY": {"provider a", "provider lab"}, "BOT_NAME": {"plugin bot"}, "BOT_TOKEN": {"plugin bot"}}
		},
		Reload: func(context.Context) rpc.Reloaded {
			*reloads++
			return rpc.Reloaded{Diagnostics: []rpc.Diagnostic{{Severity: "warning", Text: "w"}, {Severity: "error", Text: "e"}}}
		},
		Log: hclog.NewNullLogger(),
	}, reloads
}

func TestWhichKeyIsMeant(t *testing.T) {
	a, _ := answers(newFixture(t))
	for of, want := range map[string]string{"a": "A_KEY", "lab": "A_KEY", "A_KEY": "A_KEY", "BOT_TOKEN": "BOT_TOKEN"} {
		if name, err := a.name(of); name != want || err != nil {
			t.Errorf("%s is %q, %v", of, name, err)
		}
	}
	for of, says := range map[string]string{"bot": "BOT_NAME, BOT_TOKEN", "": "a, bot, lab", "nope": "a, bot, lab", "provider a": "a, bot, lab"} {
		if name, err := a.name(of); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s is %q, %v", of, name, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	f, ctx := newFixture(t), context.Background()
	a, reloads := answers(f)
	if lacks := a.Lacks(); !slices.Equal(lacks, []string{"A_KEY", "BOT_NAME", "BOT_TOKEN"}) {
		t.Errorf("lacks %v", lacks)
	}
	kept, err := a.Login(ctx, rpc.KeyLogin{Of: "lab", Key: "value-a"})
	if err != nil || kept.Name != "A_KEY" || kept.Place != rpc.KeyInKeyring || !slices.Equal(kept.Problems, []string{"e"}) || *reloads != 1 {
		t.Errorf("%+v, %v, read again %d times", kept, err, *reloads)
	}
	for name, key := range map[string]string{"empty": "", "white": " \n", "no text": "a\xffb", "null": "a\x00b", "long": strings.Repeat("k", maxKey+1)} {
		if _, err := a.Login(ctx, rpc.KeyLogin{Of: "a", Key: key}); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := a.Give(ctx, 1, rpc.KeysGive{Keys: map[string]string{"BOT_NAME": key}}); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%s given: %v", name, err)
		}
	}
	taken, err := a.Give(ctx, 1, rpc.KeysGive{Keys: map[string]string{"A_KEY": "other-a", "BOT_TOKEN": "value-b", "PATH": "/bin"}})
	if err != nil || !slices.Equal(taken.Taken, []string{"BOT_TOKEN"}) || *reloads != 2 {
		t.Errorf("took %v, %v, read again %d times", taken.Taken, err, *reloads)
	}
	if taken, err := a.Give(ctx, 1, rpc.KeysGive{Keys: map[string]string{"BOT_TOKEN": "value-c"}}); err != nil || len(taken.Taken) != 0 || *reloads != 2 {
		t.Errorf("took %v once more, %v", taken.Taken, err)
	}
	for value, known := range map[string]bool{"value-a": true, "value-b": true, "other-a": false, "value-c": false, "/bin": false} {
		if f.learned.has(value) != known {
			t.Errorf("that %s is taken out of texts is %v", value, !known)
		}
	}
	f.want(t, "A_KEY", "value-a", Keyring)
	f.want(t, "BOT_TOKEN", "value-b", Memory)
	f.want(t, "PATH", "", "")
	if _, err := f.Login(ctx, "UNUSED", "value-u", true); err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, k := range a.List().Keys {
		rows = append(rows, k.Name+"="+k.Place)
	}
	if want := []string{"A_KEY=keyring", "BOT_NAME=", "BOT_TOKEN=memory", "UNUSED=file"}; !slices.Equal(rows, want) {
		t.Errorf("listed %v, want %v", rows, want)
	}
	if gone, err := a.Logout(ctx, rpc.KeyRef{Of: "UNUSED"}); err != nil || !slices.Equal(gone.From, []string{rpc.KeyInFile}) || *reloads != 3 {
		t.Errorf("%+v, %v", gone, err)
	}
	f.env["A_KEY"] = "env-a"
	if gone, err := a.Logout(ctx, rpc.KeyRef{Of: "a"}); err != nil || gone.Still != rpc.KeyInEnvironment {
		t.Errorf("%+v, %v", gone, err)
	}
	if _, err := a.Logout(ctx, rpc.KeyRef{Of: "nope"}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Error(err)
	}
}
