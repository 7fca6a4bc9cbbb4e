package modelhttp

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func readEvents(r io.Reader) ([]string, error) {
	return readAll(NewEvents(r))
}

func readAll(in *Events) ([]string, error) {
	var out []string
	for {
		ev, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		text := ev.Name + "|" + string(ev.Data)
		if ev.Unended {
			text += "|unended"
		}
		if ev.Whole {
			text += "|whole"
		}
		out = append(out, text)
	}
}

func TestEvents(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"plain", "data: a\n\ndata: b\n\n", []string{"|a", "|b"}},
		{"no blank behind the colon", "data:a\n\n", []string{"|a"}},
		{"one blank is the separator", "data:  a\n\n", []string{"| a"}},
		{"several lines", "data: a\ndata: b\n\n", []string{"|a\nb"}},
		{"name", "event: error\ndata: a\n\ndata: b\n\n", []string{"error|a", "|b"}},
		{"name without data", "event: ping\n\ndata: a\n\n", []string{"|a"}},
		{"comments", ": keep-alive\n\n: more\ndata: a\n: x\n\n", []string{"|a"}},
		{"CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}},
		{"CR", "data: a\r\rdata: b\r\r", []string{"|a", "|b"}},
		{"mixed", "data: a\r\ndata: b\r\n\ndata: c\n\n", []string{"|a\nb", "|c"}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []string{"|a"}},
		{"end without a blank line", "data: a\n", []string{"|a|unended"}},
		{"end without a line end", "data: a", []string{"|a|unended"}},
		{"bare JSON", "{\"error\":1}\n\n", []string{"|{\"error\":1}"}},
		{"other fields", "id: 1\nretry: 5\nsomething\ndata: a\n\n", []string{"|a"}},
		{"empty data", "data:\n\n", []string{"|"}},
		{"nothing", "", nil},
		{"blank lines", "\n\n\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
				got, err := readEvents(r)
				if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
					t.Errorf("error %v, (-want +got)\n%s", err, diff)
				}
			}
		})
	}
}

// TestAnswerEvents: a server that does not stream sends one event, the whole document; a stream
// under the wrong type is read as one.
func TestAnswerEvents(t *testing.T) {
	for _, c := range []struct {
		kind, body string
		want       []string
	}{
		{"text/event-stream", "data: a\n\ndata: b\n\n", []string{"|a", "|b"}},
		{"text/event-stream", "{\"a\":\n1}", []string{"|{\"a\":|unended"}},
		{"application/json", "{\"a\":\n1}", []string{"|{\"a\":\n1}|whole"}},
		{"application/json; charset=utf-8", " [1,\n\n2]\n", []string{"| [1,\n\n2]\n|whole"}},
		{"application/json", "event: x\ndata: a\n\ndata: b", []string{"x|a", "|b|unended"}},
		{"application/json", "", []string{"||whole"}},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.kind)
			_, _ = io.WriteString(w, c.body) // the reader says what is missing
		}))
		client, err := New(Options{Base: srv.URL})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(t.Context(), http.MethodGet, "/", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(answer.Events())
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s %q: error %v, (-want +got)\n%s", c.kind, c.body, err, diff)
		}
		if err := answer.Close(); err != nil {
			t.Error(err)
		}
		srv.Close()
	}
	if _, err := readAll(&Events{document: &zeros{n: MaxEvent + 1}}); !errors.Is(err, ErrLongEvent) {
		t.Errorf("a long document: %v", err)
	}
}

// TestBaseURL: what a URL has beyond where the endpoints lie goes, each tail in its turn.
func TestBaseURL(t *testing.T) {
	for in, want := range map[string]string{
		"host":                       "http://host",
		" https://host:1/ ":          "https://host:1",
		"http://host/v1/b/c/":        "http://host/v1",
		"http://host/c/b":            "http://host/c",
		"http://host/x%2fy/b?k=1#at": "http://host/x/y?k=1",
		"http://ho st":               "http://ho st",
	} {
		if got := BaseURL(in, "/c", "/b"); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestEventsAreBounded(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("data: "), &zeros{n: 3 * MaxEvent})
	if _, err := readEvents(endless); !errors.Is(err, ErrLongEvent) {
		t.Errorf("a long line: %v", err)
	}
	many := strings.NewReader(strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 20))
	if _, err := readEvents(many); !errors.Is(err, ErrLongEvent) {
		t.Errorf("a long event: %v", err)
	}
}

type zeros struct{ n int }

func (z *zeros) Read(p []byte) (int, error) {
	if z.n <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), z.n)
	for i := range p[:n] {
		p[i] = '0'
	}
	z.n -= n
	return n, nil
}

// FuzzEvents holds the parser to one thing above all: how the network cuts the
// bytes does not change what is read.
func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"data: a\n\n", "event: e\r\ndata: a\r\rdata", "\xef\xbb\xbf{\"a\":1}\n", ": c\n\n\n", "data\n\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := readEvents(bytes.NewReader(in))
		cut, errCut := readEvents(iotest.OneByteReader(bytes.NewReader(in)))
		if diff := cmp.Diff(whole, cut); diff != "" || (err == nil) != (errCut == nil) {
			t.Errorf("errors %v and %v\n%s", err, errCut, diff)
		}
	})
}
