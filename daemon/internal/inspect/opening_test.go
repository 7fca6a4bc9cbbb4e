package inspect

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// TestOpening: an opening says the same to people, as flags and as a block, and comes back
// from the block as it was.
func TestOpening(t *testing.T) {
	for _, c := range []struct {
		open        Opening
		says, flags string
	}{
		{Opening{}, "nothing: it has a folder of its own, and no network", ""},
		{Opening{Network: true}, "the network", "--network"},
		{Opening{Paths: []string{"~/a", "/b"}, ReadPaths: []string{"/c"}}, "~/a, /b, /c (read)", "--path ~/a --path /b --read-path /c"},
		{Opening{Network: true, ReadPaths: []string{"/c"}, BestEffort: true}, "/c (read), the network", "--network --read-path /c --best-effort"},
		{Opening{BestEffort: true}, "nothing: it has a folder of its own, and no network", "--best-effort"},
		{Opening{Unconfined: true}, "everything that you may read and write, and the network: nothing confines it", "--unconfined"},
	} {
		if c.open.String() != c.says || c.open.Flags() != c.flags {
			t.Errorf("%+v: %q, %q", c.open, c.open, c.open.Flags())
		}
		if back := openingOf(c.open.confine()); !reflect.DeepEqual(back, c.open) {
			t.Errorf("%+v came back as %+v", c.open, back)
		}
	}
	if openingOf(nil).confine() != nil || openingOf(&config.Confine{}).confine() == nil {
		t.Error("no block is not an empty one")
	}
}

// TestCheckedOpening: a path of a command line is absolute in the block, or in the home;
// what contradicts itself is refused.
func TestCheckedOpening(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	given := []string{"data", "./a/../b", "~/notes", "/etc/", "~other"}
	want := []string{filepath.Join(dir, "data"), filepath.Join(dir, "b"), "~/notes", "/etc", filepath.Join(dir, "~other")}
	got, err := Opening{Paths: given, ReadPaths: given[:1], Network: true}.checked()
	if err != nil || !reflect.DeepEqual(got, Opening{Paths: want, ReadPaths: want[:1], Network: true}) {
		t.Errorf("%+v %v", got, err)
	}
	if given[0] != "data" {
		t.Error("what was given is another now")
	}
	for name, o := range map[string]Opening{
		"network": {Unconfined: true, Network: true}, "a path": {Unconfined: true, Paths: []string{"/a"}},
		"to read": {Unconfined: true, ReadPaths: []string{"/a"}}, "best effort": {Unconfined: true, BestEffort: true},
	} {
		if _, err := o.checked(); sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), "give --unconfined alone") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWanted: a person is asked for each thing that the plugin needs and has not, once.
func TestWanted(t *testing.T) {
	needs := sdk.Needs{Network: true, Paths: []string{"~/a", "~/b"}, ReadPaths: []string{"/c"}}
	for name, c := range map[string]struct {
		in    Installation
		needs sdk.Needs
		want  []string // the flags of each question
	}{
		"all of it":            {Installation{}, needs, []string{"--network", "--path ~/a --path ~/b", "--read-path /c"}},
		"what no flag opened":  {Installation{Opening: Opening{Network: true, Paths: []string{"~/b"}}}, needs, []string{"--path ~/a", "--read-path /c"}},
		"nothing":              {Installation{}, sdk.Needs{}, nil},
		"a weak kernel":        {Installation{Unheld: []string{"the network"}}, sdk.Needs{}, []string{"--best-effort"}},
		"puts up with it":      {Installation{Unheld: []string{"the network"}, Opening: Opening{BestEffort: true}}, sdk.Needs{}, nil},
		"no walls at all":      {Installation{Unheld: []string{"the network"}}, sdk.Needs{Unconfined: "it starts containers"}, []string{"--unconfined"}},
		"none, by a flag":      {Installation{Opening: Opening{Unconfined: true}}, needs, nil},
		"a block that is kept": {Installation{Kept: true, Unheld: []string{"the network"}}, needs, nil},
	} {
		c.in.Manifest.Needs = c.needs
		var got []string
		for _, want := range c.in.Wanted() {
			got = append(got, want.Flags())
			c.in.With(want)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if left := c.in.Wanted(); len(left) > 0 {
			t.Errorf("%s: asked again for %v", name, left)
		}
		if closed := strings.Contains(c.in.Block, "confine"); len(c.want) > 0 && closed == c.in.Opening.Unconfined {
			t.Errorf("%s: the block is %s", name, c.in.Block)
		}
	}
}

// TestNeededPaths: a path that a plugin declares is asked for unless it is open, whoever
// wrote out the home.
func TestNeededPaths(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for name, c := range map[string]struct {
		needed, open string
		asked        bool
	}{
		"as it is declared":    {"~/notes", "~/notes", false},
		"made by a shell":      {"~/notes", filepath.Join(home, "notes"), false},
		"declared in full":     {filepath.Join(home, "notes"), "~/notes", false},
		"with a slash":         {"~/notes/", filepath.Join(home, "notes"), false},
		"below":                {"~/notes/old", "~/notes", false},
		"the whole home":       {"~/notes", home, false},
		"above":                {"~/notes", "~/notes/old", true},
		"another":              {"~/notes", "~/note", true},
		"one that begins so":   {"~/notes", "~/notes-old", true},
		"dots in a name":       {"~/..notes", "~/", false},
		"of the root":          {"~/notes", "/notes", true},
		"another's home":       {"~/notes", "/home/else/notes", true},
		"a name with a tilde":  {"/x/~/notes", "~/notes", true},
		"nothing that is open": {"~/notes", "", true},
	} {
		var open []string
		if c.open != "" {
			open = []string{c.open}
		}
		for _, in := range []Installation{
			{Manifest: sdk.Manifest{Needs: sdk.Needs{Paths: []string{c.needed}}}, Opening: Opening{Paths: open}},
			{Manifest: sdk.Manifest{Needs: sdk.Needs{ReadPaths: []string{c.needed}}}, Opening: Opening{ReadPaths: open}},
		} {
			if wanted := in.Wanted(); (len(wanted) > 0) != c.asked {
				t.Errorf("%s: wanted %v", name, wanted)
			}
		}
	}
}
