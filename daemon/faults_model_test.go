package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// faultyModel is a model server that does wrong what the prompt names.
type faultyModel struct {
	mu    sync.Mutex
	asked map[string]int // by prompt
}

func (f *faultyModel) count(prompt string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[prompt]
}

// The key that every request carries; it must be nowhere in what is told.
const faultyKey = "sk-canary-fault-0123456789"

func (f *faultyModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct{ Messages []chatMessage }
	body, err := io.ReadAll(r.Body)
	if r.Method != http.MethodPost || err != nil || json.Unmarshal(body, &request) != nil {
		http.NotFound(w, r)
		return
	}
	prompt, last := "", request.Messages[len(request.Messages)-1]
	for _, m := range request.Messages {
		if m.Role == "user" {
			prompt = m.Content
		}
	}
	f.mu.Lock()
	f.asked[prompt]++
	n := f.asked[prompt]
	f.mu.Unlock()
	send := func(data ...string) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, d := range data {
			fmt.Fprintf(w, "data: %s\n\n", d)
		}
		w.(http.Flusher).Flush()
	}
	word := func(text string) string {
		return fmt.Sprintf(`{"choices":[{"delta":{"content":%q}}]}`, text)
	}
	call := func(index int, id, tool, arguments string) string {
		return fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}]}}]}`, index, id, tool, arguments)
	}
	const stop, calls = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`
	refuse := func(status int, text string) { http.Error(w, `{"error":{"message":"`+text+`"}}`, status) }
	wait := func() { <-r.Context().Done() }
	switch prompt {
	case "slow down":
		if n == 1 {
			w.Header().Set("Retry-After", "1")
			refuse(http.StatusTooManyRequests, "too many")
			return
		}
		send(word("later"), stop)
	case "break down":
		refuse(http.StatusServiceUnavailable, "down")
	case "refuse the key":
		refuse(http.StatusUnauthorized, "Incorrect API key provided: "+faultyKey)
	case "refuse it all":
		refuse(http.StatusBadRequest, "no such thing")
	case "too long":
		refuse(http.StatusBadRequest, "This model's maximum context length is 10 tokens. However, your messages resulted in 5000 tokens")
	case "begin late":
		wait()
	case "stall":
		send(word("the first half"), call(0, "c", "write_file", `{"path":"half.txt","content":"x"}`))
		wait()
	case "end early":
		send(word("the first half"))
		return
	case "write rubbish":
		send(word("a"), `{"choices":[{"delta":{"content":`)
	case "split letters":
		text := word("für Elise")
		at := strings.Index(text, "ü") + 1 // within the letter
		w.Header().Set("Content-Type", "text/event-stream")
		for _, part := range []string{"data: " + text[:at], text[at:] + "\n\ndata: " + stop + "\n\n"} {
			_, _ = io.WriteString(w, part)
			w.(http.Flusher).Flush()
		}
	case "bad arguments":
		bad := []string{`[`, strings.Repeat(`{"a":`, 10000) + "1" + strings.Repeat("}", 10000), `{"path":7}`, `{"path":"` + strings.Repeat("x", 10<<20) + `"}`}
		send(call(0, "c", "read_file", bad[(n-1)%len(bad)]), calls)
	case "twice the same name":
		if last.Role == "tool" {
			send(word("it said "+last.Content), stop)
			return
		}
		send(call(0, "c", "read_file", `{"path":"README","path":"README"}`), calls)
	case "many calls":
		if last.Role == "tool" {
			send(word("made"), stop)
			return
		}
		var all []string
		for i := range 500 {
			all = append(all, call(i, "same", "read_file", `{"path":"README"}`))
		}
		send(append(all, call(500, "same", "no_such_tool", "{}"), calls)...)
	case "always the same":
		send(call(0, fmt.Sprint("c", n), "read_file", `{"path":"README"}`), calls)
	case "negative usage":
		send(word("less than nothing"), stop, `{"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":-1,"total_tokens":-6}}`)
	default:
		send(word("I was not asked for a fault"), stop)
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// TestModelFaults: what goes wrong between Bothy and a model is told, bounded, and no
// success.
func TestModelFaults(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, "project/README", "read me")
	model := &faultyModel{asked: map[string]int{}}
	server := httptest.NewServer(model)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := closed.Addr().String()
	_ = closed.Close() // nobody listens there
	provider := func(label, base string) string {
		return fmt.Sprintf("provider %q {\n  plugin = \"openai\"\n  base_url = %q\n  api_key = secret(\"FAULTY_KEY\")\n  first_byte_timeout = \"2s\"\n  idle_timeout = \"1s\"\n}\n", label, base)
	}
	p.write(t, ".config/bothy/config.hcl", "plugin \"bash\" {\n  enabled = false\n}\npolicy {\n  mode = \"full\"\n}\n"+
		provider("faulty", server.URL)+provider("tls", strings.Replace(server.URL, "http:", "https:", 1))+provider("closed", "http://"+refused)+
		"agent \"patient\" {\n  repeated_calls = 0\n  consecutive_errors = 3\n}\n")
	p.env = append(p.env, "FAULTY_KEY="+faultyKey)
	t.Cleanup(func() { _, _ = p.bothy("stop", "--now") })
	if out, err := p.bothy("status"); err != nil && !strings.Contains(out, "not running") {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := p.bothy("tools", "list"); err != nil { // which starts the daemon
		t.Fatalf("%v: %s", err, out)
	}
	run := func(name, prompt string, more ...string) (string, error) {
		return p.bothy(append([]string{"run", "-m", "faulty/m", "-r", name, prompt}, more...)...)
	}
	for name, c := range map[string]struct {
		prompt string
		args   []string
		good   bool
		says   []string
		not    []string
		asked  int // 0: not counted
		more   func(t *testing.T)
	}{
		"fault 18: 429 with Retry-After":   {prompt: "slow down", good: true, says: []string{"later", "429"}, asked: 2},
		"fault 20: 401":                    {prompt: "refuse the key", says: []string{"401", "key"}, not: []string{faultyKey}, asked: 1},
		"fault 20: 400":                    {prompt: "refuse it all", says: []string{"no such thing", "400"}, asked: 1},
		"fault 20: too long":               {prompt: "too long", says: []string{"too long"}},
		"fault 21: no connection":          {prompt: "anything", args: []string{"-m", "closed/m"}, says: []string{"nothing listens at"}},
		"fault 21: no TLS":                 {prompt: "anything", args: []string{"-m", "tls/m"}, says: []string{"speaks plain HTTP"}},
		"fault 21: no first byte":          {prompt: "begin late", says: []string{"2s"}, not: []string{"nothing listens"}},
		"fault 22: a stall within a token": {prompt: "stall", says: []string{"1s"}, asked: 1},
		"fault 23: no end":                 {prompt: "end early", says: []string{"the first half"}, asked: 1},
		"fault 24: no JSON":                {prompt: "write rubbish", asked: 1},
		"fault 24: a letter in two pieces": {prompt: "split letters", good: true, says: []string{"für Elise"}},
		"fault 25: bad arguments":          {prompt: "bad arguments", args: []string{"--agent", "patient"}, says: []string{"consecutive_errors"}, asked: 3},
		"fault 25: a name twice":           {prompt: "twice the same name", good: true},
		"fault 26: many calls":             {prompt: "many calls"},
		"fault 27: always the same":        {prompt: "always the same", says: []string{"repeated_calls"}},
		"fault 28: negative usage": {prompt: "negative usage", good: true, more: func(t *testing.T) {
			out, err := p.bothy("runs", "show", "negative-usage", "--json")
			var d rpc.RunDetail
			if err != nil || json.Unmarshal([]byte(out), &d) != nil || len(d.Turns) != 1 || d.Turns[0].Usage == nil || !d.Turns[0].Usage.Estimated || d.Turns[0].Usage.Prompt <= 0 || d.Turns[0].Usage.Completion <= 0 {
				t.Errorf("%v: %.1000s", err, out)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alias := strings.ReplaceAll(c.prompt, " ", "-")
			if len(c.args) > 1 {
				alias += "-" + strings.Split(c.args[1], "/")[0]
			}
			out, err := run(alias, c.prompt, c.args...)
			if (err == nil) != c.good {
				t.Errorf("%v: %s", err, out)
			}
			for _, text := range c.says {
				if !strings.Contains(out, text) {
					t.Errorf("it does not say %q: %.3000s", text, out)
				}
			}
			for _, text := range append(c.not, faultyKey) {
				if strings.Contains(out, text) {
					t.Errorf("it says %q: %.3000s", text, out)
				}
			}
			if n := model.count(c.prompt); c.asked > 0 && n != c.asked {
				t.Errorf("it was asked %d times, not %d: %.3000s", n, c.asked, out)
			}
			if c.more != nil {
				c.more(t)
			}
			if _, err := os.Stat(p.home + "/project/half.txt"); err == nil {
				t.Error("half of an answer was acted on")
			}
		})
	}
	t.Run("fault 19: 503", func(t *testing.T) {
		t.Parallel()
		out, err := run("down", "break down")
		if n := model.count("break down"); err == nil || n < 2 || n > 20 || !strings.Contains(out, "503") {
			t.Errorf("it was asked %d times: %v: %s", n, err, out)
		}
		var d rpc.RunDetail
		shown, _ := p.bothy("runs", "show", "down", "--json")
		if json.Unmarshal([]byte(shown), &d) != nil || len(d.Loops) != 1 || d.Loops[0].Status != sdk.StatusFailed {
			t.Errorf("%.1000s", shown)
		}
		// What it is resumed with is no prompt of a fault: the server is well again.
		if out, err := p.bothy("runs", "resume", "down"); err != nil || !strings.Contains(out, "finished") {
			t.Errorf("%v: %s", err, out)
		}
	})
	t.Cleanup(func() {
		if log, err := os.ReadFile(p.log); err != nil || bytes.Contains(log, []byte(faultyKey)) {
			t.Errorf("the log has the key (%v)", err)
		}
	})
}
