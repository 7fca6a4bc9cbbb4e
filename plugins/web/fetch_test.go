package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bothyd/bothy/plugins/web/internal/reader"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/sdktest"
	"github.com/bothyd/bothy/sdk/webguard"
)

// TestDocuments: what each kind of document comes to.
func TestDocuments(t *testing.T) {
	const latin, utf16 = "caf\xe9", "\xff\xfe<\x00p\x00>\x00h\x00\xe9\x00"
	page := `<html><head><title> Of  kettles </title></head><body><nav><a href="/all">All</a></nav><article><h1>Kettles</h1><p>They <b>boil</b> <a href="../water?x=1">water</a>.</p>` +
		`<p>` + strings.Repeat("A kettle, of all things that boil, is the oldest and best. ", 20) + `</p>` +
		`<table><tr><th>kind</th><th>litres</th></tr><tr><td>small</td><td>1</td></tr></table><img src="data:image/png;base64,AAAA"><script>alert(1)</script></article></body></html>`
	for name, c := range map[string]struct {
		header, body string
		more         []any
		has          []string
		hasNot       []string
	}{
		"HTML":            {"text/html", page, nil, []string{"Of kettles\n", "# Kettles", "They **boil** [water](", "/water?x=1)", "| kind  | litres |", "[All]("}, []string{"alert", "AAAA", "<p>"}},
		"its article":     {"text/html", page, []any{"main", true}, []string{"They **boil**"}, []string{"[All]("}},
		"its source":      {"text/html", page, []any{"raw", true}, []string{"<p>They <b>boil</b>"}, nil},
		"XHTML":           {"application/xhtml+xml", page, nil, []string{"# Kettles"}, nil},
		"JSON":            {"application/json", `{"a": [1, 2]}`, nil, []string{`{"a": [1, 2]}`}, nil},
		"problem+json":    {"application/problem+json", `{"a":1}`, nil, []string{`{"a":1}`}, nil},
		"text":            {"text/plain; charset=utf-8", "a < b", nil, []string{"a < b"}, nil},
		"latin by header": {"text/plain; charset=iso-8859-1", latin, nil, []string{"café"}, nil},
		"latin by guess":  {"text/plain", latin, nil, []string{"café"}, nil},
		"japanese":        {"text/plain; charset=shift_jis", "\x83\x70", nil, []string{"パ"}, nil},
		"by its mark":     {"text/html; charset=iso-8859-1", utf16, nil, []string{"hé"}, nil},
		"by its meta":     {"text/html", `<meta charset="windows-1251"><p>` + "\xcf", nil, []string{"П"}, nil},
		"UTF-8 unsaid":    {"text/html", `<p>é`, nil, []string{"é"}, nil},
		"meta of a text":  {"text/plain", `<meta charset="windows-1251">` + "\xe9", nil, []string{"é"}, nil},
		"no such charset": {"text/plain; charset=klingon", "x é", nil, []string{"x é"}, nil},
		"a page unsaid":   {"", "<!doctype html><p>x <b>y</b>", nil, []string{"x **y**"}, nil},
		"a text as bytes": {"application/octet-stream", "just text", nil, []string{"just text"}, nil},
		"PDF":             {"application/pdf", string(pdfOf("", words("They boil."))), nil, []string{"Of kettles", "They boil.", "application/pdf"}, nil},
		"PDF as bytes":    {"application/octet-stream", string(pdfOf("", words("They boil."))), nil, []string{"They boil."}, nil},
		"a type of words": {"obey me / now\u202e", "<!doctype html><p>x", nil, []string{"text/html"}, []string{"obey"}},
		"a hidden title":  {"text/html", "<title>a\u202eb\U000e0041c</title><p>x", nil, []string{"abc\n"}, []string{"\u202e"}},
		"a picture":       {"image/png", "\x89PNG\r\n\x1a\n", nil, []string{"image/png", "8 bytes", "was not read"}, []string{"PNG\r"}},
		"bytes":           {"application/octet-stream", "\x00\x01\x02\x03", nil, []string{"application/octet-stream", "was not read"}, nil},
		"nothing":         {"text/html", "", nil, []string{"0 bytes", "the end"}, nil},
		"HEAD":            {"text/html", page, []any{"method", "HEAD"}, []string{"status 200 OK, text/html"}, []string{"Kettles", "not read"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, serves(c.header, c.body))
			r := s.get(t, "/a/b", c.more...)
			for _, has := range c.has {
				if !strings.Contains(r.Output, has) {
					t.Errorf("without %q: %s", has, r.Output)
				}
			}
			for _, has := range c.hasNot {
				if strings.Contains(r.Output, has) {
					t.Errorf("with %q: %s", has, r.Output)
				}
			}
		})
	}
}

// TestWhatGoesOut: a request names Bothy, and brings neither cookies nor where it comes from.
func TestWhatGoesOut(t *testing.T) {
	var asked []http.Header
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header)
		if r.URL.Path == "/from" {
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
			http.Redirect(w, r, "/to", http.StatusFound)
			return
		}
		serves("text/plain", "x")(w, r)
	})
	r := s.get(t, "/from?secret")
	if len(asked) != 2 || r.Metadata["final"] != s.URL+"/to" || r.Metadata["entry"] != s.URL+"/from?secret" {
		t.Fatalf("%d requests: %v", len(asked), r.Metadata)
	}
	for _, h := range asked {
		if !strings.HasPrefix(h.Get("User-Agent"), "Bothy/") || h.Get("Cookie")+h.Get("Authorization")+h.Get("Referer") != "" {
			t.Errorf("%v", h)
		}
	}
}

// TestStatus: a status that is no success is a result with its text, and is asked again.
func TestStatus(t *testing.T) {
	var asked atomic.Int32
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "no such kettle")
	})
	for range 2 {
		if r := s.get(t, "/x"); !r.Success || !strings.Contains(r.Output, "status 404 Not Found") || !strings.Contains(r.Output, "no such kettle") || r.Metadata["status"] != 404 {
			t.Errorf("%+v", r)
		}
	}
	if asked.Load() != 2 {
		t.Errorf("asked %d times", asked.Load())
	}
}

// TestEntry: what was read is an entry with all that is known of it, which answers for 15 minutes.
func TestEntry(t *testing.T) {
	var asked atomic.Int32
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		serves("text/html", fmt.Sprintf("<title>T</title><p>answer %d", asked.Add(1)))(w, r)
	})
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.now = func() time.Time { return now }
	r := s.get(t, "/x#part")
	e := s.run.entries[s.URL+"/x"]
	var p page
	if err := json.Unmarshal(e.Attributes, &p); err != nil {
		t.Fatal(err)
	}
	if len(r.Writes) != 1 || e.Body != "answer 1" || e.Visibility != sdk.Summarized || p.Title != "T" || p.Final != s.URL+"/x" || p.Status != 200 || p.Type != "text/html" ||
		!p.Time.Equal(now) || len(p.Digest) != 64 || p.Cut || p.Bytes != 27 || p.Form != reader.Markdown || p.Address != "" {
		t.Errorf("%+v %+v", e, p)
	}
	model := s.run.entries[s.URL+"/x"]
	model.Writer, model.Path = sdk.WriterModel, s.URL+"/model"
	s.run.keep(model)
	for _, c := range []struct {
		name  string
		after time.Duration
		path  string
		more  []any
		want  string
		again bool
	}{
		{"at once", 0, "/x", nil, "answer 1", false},
		{"with another part", 0, "/x#other", nil, "answer 1", false},
		{"later", 14 * time.Minute, "/x", nil, "answer 1", false},
		{"another address", 14 * time.Minute, "/x?", nil, "answer 2", true},
		{"another form", 14 * time.Minute, "/x", []any{"raw", true}, "answer 3", true},
		{"asked for", 14 * time.Minute, "/x", []any{"fresh", true}, "answer 4", true},
		{"much later", 29 * time.Minute, "/x", nil, "answer 5", true},
		{"what a model wrote", 0, "/model", nil, "answer 6", true},
	} {
		before := asked.Load()
		now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(c.after)
		r := s.get(t, c.path, c.more...)
		if !strings.Contains(r.Output, c.want) || strings.Contains(r.Output, "From the entry of") == c.again || (asked.Load() > before) != c.again || len(r.Writes) > 0 != c.again {
			t.Errorf("%s: %s", c.name, r.Output)
		}
	}
}

// TestLongAddress: one that is too long for a path has its hash as path, and stands in the attributes.
func TestLongAddress(t *testing.T) {
	var asked atomic.Int32
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		serves("text/plain", "long")(w, r)
	})
	long := "/?" + strings.Repeat("a", sdk.MaxPath)
	r := s.get(t, long)
	path := r.Writes[0].Path
	if len(path) > sdk.MaxPath || !strings.HasPrefix(path, s.URL+"/") || len(strings.TrimPrefix(path, s.URL+"/")) != 64 || !strings.Contains(string(r.Writes[0].Attributes), long) {
		t.Errorf("%s %s", path, r.Writes[0].Attributes)
	}
	s.get(t, long)
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
	s.get(t, "/"+strings.TrimPrefix(path, s.URL+"/")) // the page that is really there
	if asked.Load() != 2 {
		t.Error("another address was answered from the entry of a hash")
	}
}

// TestLines: a text is shown in parts, which say how it goes on.
func TestLines(t *testing.T) {
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "line %d\n", i+1)
	}
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wide" {
			serves("text/plain", "a\n"+strings.Repeat("é", mostShown)+"\nb")(w, r)
			return
		}
		serves("text/plain", text.String())(w, r)
	})
	for _, c := range []struct {
		path        string
		line, limit int
		has         string
		hasNot      string
	}{
		{"/", 1, 200, "Lines 1 to 200 of 500. Read on with line = 201.", "line 201\n"},
		{"/", 201, 2, "line 201\nline 202\n\nLines 201 to 202 of 500.", "line 203\n"},
		{"/", 499, 200, "Lines 499 to 500 of 500: the end.", "line 498\n"},
		{"/wide", 1, 200, "Lines 1 to 1 of 3. Read on with line = 2.", "é"},
		{"/wide", 2, 200, "Line 2 of 3 is longer than what is shown.", "\uFFFD"},
		{"/wide", 3, 200, "b\n\nLines 3 to 3 of 3: the end.", "é"},
	} {
		r := s.get(t, c.path, "line", c.line, "limit", c.limit)
		if !strings.Contains(r.Output, c.has) || strings.Contains(r.Output, c.hasNot) || len(r.Output) > mostShown+2000 {
			t.Errorf("%s from %d: %.300s", c.path, c.line, r.Output)
		}
	}
	if _, err := s.fetch(t, map[string]any{"url": s.URL, "line": 501}, false); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("behind the end: %v", err)
	}
}

// TestBounds: more than may be read is cut, or of a PDF refused; and so is what decompresses to it (F11, case 54).
func TestBounds(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 200 {
		_, _ = z.Write(bytes.Repeat([]byte("0123456789abcde\n"), 64<<10)) // a buffer takes all
	}
	_ = z.Close()
	endless := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		for r.Context().Err() == nil {
			if _, err := w.Write(bytes.Repeat([]byte("<p>\xc3\xa9\n"), 1024)); err != nil {
				return
			}
		}
	}
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		case "/large.pdf":
			w.Header().Set("Content-Type", "application/pdf")
			w.Header().Set("Content-Length", "6000000")
			w.WriteHeader(http.StatusOK)
		default:
			endless(w, r)
		}
	})
	for _, path := range []string{"/bomb", "/?type=text/plain", "/?type=text/html"} {
		r := s.get(t, path)
		body := *r.Writes[0].Body
		if !r.Truncated || r.Metadata["cut"] != true || len(body) > 1_000_000 || len(body) < 100_000 || strings.Contains(body, "\uFFFD") {
			t.Errorf("%s: %d bytes, %v", path, len(body), r.Metadata)
		}
	}
	for _, path := range []string{"/large.pdf", "/?type=application/pdf"} {
		_, err := s.fetch(t, map[string]any{"url": s.URL + path}, false)
		if sdk.OutcomeOf(err) != sdk.Overflow || !strings.Contains(err.Error(), "max_pdf") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestRefusals: what the guard refuses is one sentence with its kind, and nothing of the address but its host.
func TestRefusals(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	for address, want := range map[string]string{
		"http://127.0.0.1:1/canary":                        "port",
		"http://127.0.0.1/canary":                          "address",
		"http://①②⑦.⓪.⓪.①/canary":                          "address",
		"http://2130706433/canary":                         "number",
		"http://localhost/canary":                          "name",
		"http://u:canary@example.org/":                     "userinfo",
		"file:///canary":                                   "scheme",
		"data:text/html,canary":                            "scheme",
		"canary":                                           "malformed",
		s.URL + "/canary?to=http://169.254.169.254/canary": "address",
		s.URL + "/canary?to=file:///canary":                "scheme",
		s.URL + "/canary?to=//10.0.0.1/canary":             "address",
		s.URL + "/canary?to=/canary":                       "redirect",
	} {
		_, err := s.fetch(t, map[string]any{"url": address}, false)
		failed, is := errors.AsType[*sdk.Error](err)
		if !is || !strings.HasSuffix(err.Error(), "("+want+")") || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, want %s", address, err, want)
			continue
		}
		if failed.Outcome == sdk.Internal {
			t.Errorf("%s: %s", address, failed.Outcome)
		}
	}
}

// TestSameHost: what passed by its host alone is followed to no other host; the result is where it leads, as it has to be
// asked for.
func TestSameHost(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
			return
		}
		serves("text/plain", "here")(w, r)
	})
	for to, want := range map[string]string{
		"https://example.com/?word":                                  "https://example.com/?word",
		"HTTPS://EXAMPLE.COM.:443/?word#x":                           "https://example.com/?word",
		"//b\u00fccher.example/\u00fc":                               "http://xn--bcher-kva.example/%C3%BC",
		"https://example.com\\@" + s.Listener.Addr().String() + "/x": "",
	} {
		r, err := s.fetch(t, map[string]any{"url": s.URL + "/?to=" + url.QueryEscape(to)}, true)
		if want == "" {
			if err == nil {
				t.Errorf("%s: %+v", to, r)
			}
			continue
		}
		if err != nil || !r.Success || !strings.Contains(r.Output, " "+want+": ") || r.Metadata["redirect"] != want || len(r.Writes) != 0 {
			t.Errorf("%s: %+v, %v", to, r, err)
		}
	}
	for to, kind := range map[string]string{
		"http://127.0.0.2/": "address", "http://u:p@example.com/": "userinfo", "file:///etc/passwd": "scheme", "http://2130706433/": "number", "http://localhost/": "name", "http:example.com": "malformed", "http://example.com:22/": "port",
	} {
		if r, err := s.fetch(t, map[string]any{"url": s.URL + "/?to=" + url.QueryEscape(to)}, true); err == nil || !strings.HasSuffix(err.Error(), "("+kind+")") {
			t.Errorf("%s: %+v, %v", to, r, err)
		}
	}
	for _, to := range []string{"/next", "?x", s.URL + "/y", "//" + s.Listener.Addr().String() + "/z"} {
		if r, err := s.fetch(t, map[string]any{"url": s.URL + "/?to=" + url.QueryEscape(to)}, true); err != nil || !strings.Contains(r.Output, "here") {
			t.Errorf("%s: %+v, %v", to, r, err)
		}
	}
}

// TestTooLong: an address that no server takes is asked of none.
func TestTooLong(t *testing.T) {
	var asked atomic.Int32
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		serves("text/plain", "here")(w, r)
	})
	s.get(t, "/"+strings.Repeat("x", mostLength-len(s.URL)-1))
	if _, err := s.fetch(t, map[string]any{"url": s.URL + "/" + strings.Repeat("x", mostLength)}, false); sdk.OutcomeOf(err) != sdk.Validation || asked.Load() != 1 {
		t.Errorf("%v, asked %d times", err, asked.Load())
	}
}

// TestCutOff: an answer that ends before its end is none, however short it is.
func TestCutOff(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		n := 0
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &n) // or none
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", "900000")
		_, _ = w.Write(bytes.Repeat([]byte("x"), n))
	})
	for _, n := range []int{0, 1, 511, 512, 513, beginning, 2*beginning + 1, 899_999} {
		if r, err := s.fetch(t, map[string]any{"url": fmt.Sprintf("%s/%d", s.URL, n)}, false); err == nil || !strings.HasSuffix(err.Error(), "(answer)") || len(r.Writes) > 0 {
			t.Errorf("%d bytes: %+v, %v", n, r, err)
		}
	}
}

// TestNotHosts: whatever let an address pass, none leads to a host that a rule denies, however that is written.
func TestNotHosts(t *testing.T) {
	denied := []string{"ads.example.com", "*.evil.example", "xn--bcher-kva.example", "9.9.9.9"}
	for to, followed := range map[string]bool{
		"https://ads.example.com/x":      false,
		"http://ADS.example.com./":       false,
		"https://ads.example.com:443/":   false,
		"https://a.b.evil.example/":      false,
		"https://b%C3%BCcher.example/":   false,
		"https://bücher.example/":        false,
		"https://9.9.9.9/":               false,
		"https://example.com/":           true,
		"https://evil.example/":          true,
		"https://notads.example.com/":    true,
		"https://ads.example.com.other/": true,
		"file:///etc/passwd":             false,
		"https://a@example.com:99/":      false,
	} {
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		at, err := webguard.Options{}.JudgeURL(u)
		if got := err == nil && (request{notHosts: denied}).mayLead(at.Hostname()); got != followed {
			t.Errorf("%s: %t", to, got)
		}
	}
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://www.ads.example/x", http.StatusFound)
	})
	raw := json.RawMessage(`{"url":"` + s.URL + `/"}`)
	r, err := s.tools().Invoke(host.With(t.Context(), s.run), sdk.Invocation{Tool: "web_fetch", Arguments: raw, NotHosts: []string{"*.ads.example"}}, &sdktest.Recorder{})
	if err != nil || r.Metadata["redirect"] != "https://www.ads.example/x" || len(r.Writes) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestContract: the plugin keeps what every plugin of tools promises.
func TestContract(t *testing.T) {
	stalled := make(chan struct{})
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stalls" {
			select {
			case <-r.Context().Done():
			case <-stalled:
			}
			return
		}
		serves("text/plain", "here")(w, r)
	})
	defer close(stalled)
	call := func(path string) sdk.Invocation {
		return sdk.Invocation{Tool: "web_fetch", Arguments: json.RawMessage(`{"url":"` + s.URL + path + `"}`)}
	}
	sdktest.Tool(t, s.tools(), sdktest.Call{Invocation: call("/")}, sdktest.Call{Invocation: call("/stalls"), Blocks: true},
		sdktest.Call{Invocation: sdk.Invocation{Tool: "web_fetch", Arguments: json.RawMessage(`{"url":"http://10.0.0.1/"}`)}, Fails: sdk.Permission})
}

// TestSettings: what cannot be asked is said before anything is.
func TestSettings(t *testing.T) {
	for _, c := range []settings{{Ports: []string{"0"}}, {Ports: []string{"http"}}, {Ports: []string{"65536"}}, {Origins: []string{"127.0.0.1"}}} {
		w := newWeb()
		w.settings = c
		if err := w.configure(t.Context(), sdk.Settings{}); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
