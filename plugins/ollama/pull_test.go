package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bothyd/bothy/sdk"
)

// TestPull: a model is got with its progress, also from a server that has to be
// started for it, and can be used then.
func TestPull(t *testing.T) {
	base := onPath(t)
	o := starting(t, settings{BaseURL: base, Start: true})
	defer o.Close()
	var told []sdk.PullProgress
	progress := func(p sdk.PullProgress) error {
		told = append(told, p)
		return nil
	}
	if err := o.Pull(t.Context(), "qwen3", progress); err != nil {
		t.Fatal(err)
	}
	want := []sdk.PullProgress{{Status: "pulling manifest"}, {Status: "pulling abc", Done: 500000, Total: 2000000}, {Status: "pulling abc", Done: 2000000, Total: 2000000}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	if list, err := o.Models(t.Context()); err != nil || len(list) != 1 || list[0].Name != "qwen3:latest" {
		t.Errorf("%+v, %v", list, err)
	}
	if err := o.Pull(t.Context(), "nowhere", progress); sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "file does not exist") {
		t.Errorf("what is nowhere: %v", err)
	}
	enough := errors.New("enough")
	if err := o.Pull(t.Context(), "other", func(sdk.PullProgress) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("a reader that wants no more: %v", err)
	}
}

// TestPullGivenUp: the server is told that nobody waits any more.
func TestPullGivenUp(t *testing.T) {
	base := onPath(t)
	state(t, "endless")
	o := starting(t, settings{BaseURL: base, Start: true})
	defer o.Close()
	ctx, cancel := context.WithCancel(t.Context())
	err := o.Pull(ctx, "qwen3", func(p sdk.PullProgress) error {
		if p.Done > 0 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for told(t, "gaveup") != "qwen3" {
		select {
		case <-t.Context().Done():
			t.Fatal("the server goes on")
		case <-time.After(time.Millisecond):
		}
	}
}

// TestPullIsPatient: a server that says nothing while it reads what it has is waited for.
func TestPullIsPatient(t *testing.T) {
	o := server(t, settings{IdleTimeout: 20 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"status":"verifying sha256 digest"}`+"\n")
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done(): // it was given up
		case <-time.After(500 * time.Millisecond):
			_, _ = io.WriteString(w, `{"status":"success"}`+"\n")
		}
	})
	if err := o.Pull(t.Context(), "m", func(sdk.PullProgress) error { return nil }); err != nil {
		t.Error(err)
	}
}

// pulling answers a pull with these lines.
func pulling(lines string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, lines) }
}

// TestPullBrokenOff: a stream without an end is no model.
func TestPullBrokenOff(t *testing.T) {
	for name, lines := range map[string]string{"cut": `{"status":"pulling manifest"}`, "nothing": "", "no JSON": "what?"} {
		o := server(t, settings{}, pulling(lines))
		if err := o.Pull(t.Context(), "m", func(sdk.PullProgress) error { return nil }); sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "pull again") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzPull(f *testing.F) {
	for _, seed := range []string{"", `{"status":"success"}`, `{"error":"x"}`, `{"status":7}`, `{"total":-1,"completed":1e300}`, "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		o := server(t, settings{}, pulling(lines))
		_ = o.Pull(t.Context(), "m", func(p sdk.PullProgress) error {
			if p.Done < 0 || p.Total < 0 {
				t.Errorf("%+v", p)
			}
			return nil
		})
	})
}
