package main

import (
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bothyd/bothy/sdk"
)

// TestModels reads all pages, and what a page has twice or broken costs nothing.
func TestModels(t *testing.T) {
	text, both := []string{"text"}, []string{"text", "image"}
	pages := map[string]string{
		"":  `{"data":[{"type":"model","id":"a","display_name":"A","max_input_tokens":200000,"max_tokens":64000,"capabilities":{"image_input":{"supported":true}}},{"id":7}],"has_more":true,"first_id":"a","last_id":"a"}`,
		"a": `{"data":[{"type":"model","id":"b","max_input_tokens":0,"max_tokens":null},{"type":"model","id":"a"}],"has_more":true,"last_id":"b"}`,
		"b": `{"data":[{"type":"model","id":"c","capabilities":{"image_input":{"supported":false}}}],"has_more":false,"last_id":"c"}`,
	}
	a := server(t, settings{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" || r.URL.Query().Get("limit") != "1000" {
			t.Errorf("asked for %s", r.URL)
		}
		_, _ = io.WriteString(w, pages[r.URL.Query().Get("after_id")])
	})
	got, err := a.Models(t.Context())
	want := []sdk.Model{
		{Name: "a", Context: 200000, MaxOutput: 64000, Streaming: true, Inputs: both},
		{Name: "b", Streaming: true},
		{Name: "c", Streaming: true, Inputs: text},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got)\n%s", err, diff)
	}
}

// TestEndlessPages: a server whose list has no end is not asked for ever.
func TestEndlessPages(t *testing.T) {
	asked := 0
	a := server(t, settings{}, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = io.WriteString(w, `{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}`)
	})
	if got, err := a.Models(t.Context()); err != nil || len(got) != 1 || asked != maxPages {
		t.Errorf("%v after %d pages, error %v", got, asked, err)
	}
}

func TestModelsOfOtherServers(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		class  sdk.FailureClass
	}{{404, ``, ""}, {405, ``, ""}, {401, `{}`, sdk.ClassNever}, {529, `{}`, sdk.ClassServer}, {200, `<html>`, sdk.ClassGateway}} {
		a := server(t, settings{}, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		got, err := a.Models(t.Context())
		switch {
		case c.class == "" && (err != nil || got != nil):
			t.Errorf("%d: %v, error %v", c.status, got, err)
		case c.class != "":
			if e := providerError(t, err); e.Class != c.class {
				t.Errorf("%d became %+v", c.status, *e)
			}
		}
	}
}

// TestOfficialModelsCallTools: only the server whose list that is known of says so.
func TestOfficialModelsCallTools(t *testing.T) {
	a, err := newAnthropic(settings{BaseURL: "https://" + official})
	if err != nil {
		t.Fatal(err)
	}
	if m := a.model(listedModel{ID: "m"}); m.Tools == nil || !*m.Tools {
		t.Errorf("%+v", m)
	}
}

// TestRoom: the caller's number, else what the model can write, within a tenth of
// the window; asked for once for each model.
func TestRoom(t *testing.T) {
	asked := 0
	a := server(t, settings{}, func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch r.URL.Path {
		case "/v1/models/large":
			_, _ = io.WriteString(w, `{"type":"model","id":"large-1","max_input_tokens":1000000,"max_tokens":64000}`)
		case "/v1/models/wide":
			_, _ = io.WriteString(w, `{"type":"model","id":"wide-1","max_input_tokens":200000,"max_tokens":128000}`)
		case "/v1/models/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			http.NotFound(w, r)
		}
	})
	for _, c := range []struct {
		req   sdk.Request
		want  int
		asked int
	}{
		{sdk.Request{Model: "large", MaxTokens: 7}, 7, 0},
		{sdk.Request{Model: "large"}, 64000, 1},
		{sdk.Request{Model: "large"}, 64000, 0},
		{sdk.Request{Model: "large-1", Context: 100000}, 10000, 0},
		{sdk.Request{Model: "wide"}, 20000, 1},
		{sdk.Request{Model: "wide", Context: 2000}, 1024, 0},
		{sdk.Request{Model: "unknown"}, defaultRoom, 1},
		{sdk.Request{Model: "unknown", Context: 32768}, 3276, 0},
		{sdk.Request{Model: "busy"}, defaultRoom, 1},
		{sdk.Request{Model: "busy"}, defaultRoom, 1},
	} {
		asked = 0
		if got, err := a.room(t.Context(), c.req); got != c.want || asked != c.asked || err != nil {
			t.Errorf("%+v has room for %d after %d questions, want %d after %d; error %v", c.req, got, asked, c.want, c.asked, err)
		}
	}
}
