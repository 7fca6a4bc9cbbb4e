package main

import (
	"bufio"
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// TestOpenings: what a plugin says that it needs is asked for thing by thing, and what
// nobody agrees to stays shut.
func TestOpenings(t *testing.T) {
	both := sdk.Needs{Network: true, Paths: []string{"~/notes"}}
	alone := sdk.Needs{Unconfined: "it starts\ncontainers"}
	for name, c := range map[string]struct {
		needs   sdk.Needs
		open    inspect.Opening // by flags
		lacks   []string
		answers string // nobody is there when it is empty
		want    inspect.Opening
		says    []string
	}{
		"all agreed":      {needs: both, answers: "y\ny\n", want: inspect.Opening{Network: true, Paths: []string{"~/notes"}}, says: []string{"it says that it needs the network. Open that to it? [y/N]", "it needs ~/notes"}},
		"one agreed":      {needs: both, answers: "n\nyes\n", want: inspect.Opening{Paths: []string{"~/notes"}}},
		"the answers end": {needs: both, answers: "y\n", want: inspect.Opening{Network: true}},
		"nobody there":    {needs: both, says: []string{"it says that it needs the network: --network lets it", "--path ~/notes lets it"}},
		"by a flag":       {needs: both, open: inspect.Opening{Network: true}, answers: "n\n", want: inspect.Opening{Network: true}},
		"unconfined":      {needs: alone, answers: "y\n", want: inspect.Opening{Unconfined: true}, says: []string{`it cannot be confined: it starts\ncontainers. Run it with everything that you may read and write`}},
		"not unconfined":  {needs: alone, answers: "\n", want: inspect.Opening{}},
		"a kernel":        {lacks: []string{"the network"}, answers: "y\n", want: inspect.Opening{BestEffort: true}, says: []string{"this kernel cannot hold it back from the network. Run it all the same?"}},
		"nothing needed":  {answers: "y\n", want: inspect.Opening{}},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			in := &inspect.Installation{Opening: c.open, Unheld: c.lacks}
			in.Manifest.Needs = c.needs
			openings(&console{in: bufio.NewReader(strings.NewReader(c.answers)), err: &said}, in, c.answers != "")
			if !reflect.DeepEqual(in.Opening, c.want) {
				t.Errorf("open is %+v, want %+v", in.Opening, c.want)
			}
			for _, part := range c.says {
				if !strings.Contains(said.String(), part) {
					t.Errorf("it said %q, without %q", said.String(), part)
				}
			}
			if in.Block != "" && strings.Contains(in.Block, "confine") == in.Opening.Unconfined {
				t.Errorf("the block is\n%s", in.Block)
			}
		})
	}
}
