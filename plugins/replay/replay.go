package main

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
	"github.com/bothyd/bothy/sdk/provider"
)

//go:embed cassettes/*.json
var bundled embed.FS

// settings are the attributes of a provider block of this plugin.
type settings struct {
	Cassettes string `hcl:"cassettes,optional" doc:"A folder of cassettes besides the bundled ones: its absolute path."`
}

// replay has one model for each cassette.
type replay struct{ cassettes []*cassette.Cassette }

// newReplay reads the bundled cassettes and those of the folder, which win
// over bundled ones of the same model. One that cannot be read is an error
// that names it: a recorded conversation with a part missing is another one.
func newReplay(s settings) (*replay, error) {
	inside, err := fs.Sub(bundled, "cassettes")
	if err != nil {
		return nil, err
	}
	r := &replay{}
	if r.cassettes, err = readFolder(inside, "bundled cassette"); err != nil {
		return nil, err
	}
	if s.Cassettes == "" {
		return r, nil
	}
	if !filepath.IsAbs(s.Cassettes) {
		return nil, fmt.Errorf("cassettes: %q is not absolute: write the whole path of the folder", s.Cassettes)
	}
	if info, err := os.Stat(s.Cassettes); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("cassettes: there is no folder %s", s.Cassettes)
	}
	own, err := readFolder(os.DirFS(s.Cassettes), "cassette "+s.Cassettes)
	if err != nil {
		return nil, err
	}
	r.cassettes = slices.DeleteFunc(r.cassettes, func(c *cassette.Cassette) bool { return named(own, c.Model) != nil })
	r.cassettes = append(own, r.cassettes...)
	return r, nil
}

func readFolder(folder fs.FS, what string) ([]*cassette.Cassette, error) {
	names, err := fs.Glob(folder, "*.json")
	if err != nil {
		return nil, err
	}
	var out []*cassette.Cassette
	from := map[string]string{}
	for _, name := range names {
		c, err := readFile(folder, name)
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", what, name, err)
		}
		if other, taken := from[c.Model]; taken {
			return nil, fmt.Errorf("%s/%s: its model %q is that of %s too: give each cassette a model of its own", what, name, c.Model, other)
		}
		from[c.Model] = name
		out = append(out, c)
	}
	return out, nil
}

func readFile(folder fs.FS, name string) (*cassette.Cassette, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return cassette.Read(f)
}

func named(list []*cassette.Cassette, model string) *cassette.Cassette {
	if i := slices.IndexFunc(list, func(c *cassette.Cassette) bool { return c.Model == model }); i >= 0 {
		return list[i]
	}
	return nil
}

// Models lists the cassettes.
func (r *replay) Models(context.Context) ([]sdk.Model, error) {
	able := true
	var out []sdk.Model
	for _, c := range r.cassettes {
		out = append(out, sdk.Model{Name: c.Model, Context: c.Context, Tools: &able, Streaming: true, Inputs: []string{"text"}})
	}
	return out, nil
}

// Complete plays the step that the request is at. See provider.Provider.
func (r *replay) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	c := named(r.cassettes, req.Model)
	if c == nil {
		return failed(fmt.Sprintf("there is no cassette %q; there are: %s", req.Model, strings.Join(r.names(), ", ")))
	}
	found, d := c.Find(req)
	if d != nil {
		return failed(fmt.Sprintf("no model answers here: replay/%s is a recording, and what was asked is not in it: %s differs\n  recorded: %s\n  asked:    %s", c.Model, d.Where, d.Expected, d.Got))
	}
	return found.Play(ctx, send)
}

func (r *replay) names() []string {
	var out []string
	for _, c := range r.cassettes {
		out = append(out, c.Model)
	}
	return out
}

// ways are the shortest ways to a model.
const ways = `
To get a model, do one of these:
  1. install ollama, which Bothy starts, and get a model: bothy models pull qwen3
  2. bothy auth login openai (or anthropic, groq, openrouter), which asks for your key
  3. write a provider block into ~/.config/bothy/config.hcl: provider "openai" { base_url = "http://HOST:PORT/v1" }`

func failed(message string) error {
	return &sdk.ProviderError{Class: sdk.ClassNever, Replay: true, Message: message + ways}
}

var _ provider.Provider = (*replay)(nil)
