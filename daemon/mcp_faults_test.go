package daemon

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// playFaulty is the environment variable that makes this binary a server of MCP with a fault:
// its name, and behind a colon the file that mends it.
const playFaulty = "BOTHY_TEST_FAULTY"

// serveFaulty serves the tool do, which answers "done".
func serveFaulty(what string) {
	fault, mended, _ := strings.Cut(what, ":")
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	at := func(name string) bool { // the fault happens now
		_, err := os.Stat(mended)
		return fault == name && err != nil
	}
	flood := func() {
		for line := strings.Repeat("noise ", 1000) + "\n"; ; {
			if _, err := out.WriteString(line); err != nil {
				os.Exit(1)
			}
		}
	}
	lists := 0
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for line, err := in.ReadBytes('\n'); err == nil; line, err = in.ReadBytes('\n') {
		var r struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(line, &r) != nil || r.ID == nil {
			continue
		}
		answer := `"error":{"code":-32601,"message":"no such method"}`
		switch r.Method {
		case "initialize":
			switch {
			case at("hangs at start"):
				continue
			case at("floods at start"):
				flood()
			}
			answer = `"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"x","version":"1"},"capabilities":{"tools":{"listChanged":true}}}`
		case "tools/list":
			lists++
			answer = `"result":{"tools":[` + strings.Join(faultyTools(at, lists), ",") + `]}`
		case "tools/call":
			switch {
			case at("hangs in a call"):
				continue
			case at("floods in a call"):
				flood()
			case at("sends 100 MB"):
				fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, r.ID)
				for range 100 {
					_, _ = out.WriteString(strings.Repeat("a", 1<<20))
				}
				_, _ = out.WriteString(`"}]}}` + "\n")
				continue
			case at("sends no JSON"):
				fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[}`+"\n", r.ID)
				_ = out.Flush()
				continue
			case at("sends what is no result"):
				answer = `"result":{"content":5}`
			case at("dies in a call"):
				fmt.Fprintln(os.Stderr, "out of ink")
				os.Exit(7)
			default:
				answer = `"result":{"content":[{"type":"text","text":"done"}]}`
			}
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", r.ID, answer)
		if r.Method == "tools/list" && at("renames its tools") {
			fmt.Fprintln(out, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
		if err := out.Flush(); err != nil {
			os.Exit(1)
		}
	}
	os.Exit(0)
}

// faultyTools are do and what else the fault has.
func faultyTools(at func(string) bool, lists int) []string {
	tool := func(name, schema string) string { return fmt.Sprintf(`{"name":%q,"inputSchema":%s}`, name, schema) }
	plain := `{"type":"object"}`
	tools := []string{tool("do", plain)}
	nested := func(open, end string) string { return strings.Repeat(open, 500) + plain + strings.Repeat(end, 500) }
	switch {
	case at("has a schema 500 deep"):
		tools = append(tools, tool("deep", `{"type":"object","properties":{"a":`+nested(`{"type":"array","items":`, `}`)+`}}`))
	case at("has objects 500 deep"):
		tools = append(tools, tool("deep", nested(`{"type":"object","properties":{"a":`, `}}`)))
	case at("has 5,000 tools"):
		for i := range 5000 {
			tools = append(tools, tool(fmt.Sprintf("do%d", i), plain))
		}
	case at("renames its tools"):
		tools = []string{tool(fmt.Sprintf("do%d", lists), plain)}
	}
	return tools
}

// serverFaults are what a server of MCP may do, and the one line that is said of it. Of a server whose
// tool do works all the same, that line is in the log.
var serverFaults = []struct{ name, block, says, logs string }{
	{"hangs at start", `timeout = "5s"`, `the MCP server LABEL \(.*\) failed: it did not answer within 5s`, ""},
	{"floods at start", "", `the MCP server LABEL \(.*\) failed: it printed more than 64 MB that are no message`, ""},
	{"hangs in a call", `limits { call = "3s" }`, `the call hung and was ended: nothing came of it for 3s`, ""},
	{"floods in a call", "", `the MCP server LABEL \(.*\) failed: it printed more than 64 MB that are no message`, ""},
	{"sends 100 MB", "", `the MCP server LABEL \(.*\) failed: it sent a message of more than 16 MB`, ""},
	{"sends no JSON", "", `the MCP server LABEL \(.*\) failed: it sent a message that is no JSON`, ""},
	{"sends what is no result", "", `the MCP server LABEL answered the call of do with what cannot be read`, ""},
	{"dies in a call", "", `the MCP server LABEL \(.*\) failed: it ended with exit status 7; its last words: "out of ink"`, ""},
	{"has a schema 500 deep", "", "", `its tool "mcp__LABEL__deep" cannot be used`},
	{"has objects 500 deep", "", `the MCP server LABEL \(.*\) failed: .*nesting depth`, ""},
	{"has 5,000 tools", "", "", "the server has more tools than are offered"},
	{"renames its tools", "", `there is no tool "mcp__LABEL__do"`, ""},
}

// TestFaultsOfServers: whatever a server of MCP does is one line, costs no other server, and the
// server is found again when it is well.
func TestFaultsOfServers(t *testing.T) {
	p := newPlace(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	label := func(i int) string { return fmt.Sprintf("f%d", i) }
	text := "plugin \"bash\" {\n  enabled = false\n}\nplugin \"files\" {\n  enabled = false\n}\n"
	block := func(label, what, more string) {
		text += fmt.Sprintf("mcp %q {\n  command = %q\n  env = { %s = %q }\n  confined = false\n  %s\n}\n", label, program, playFaulty, what, more)
	}
	mend := func(i int) string { return fmt.Sprintf("%s/mended-%d", p.home, i) }
	for i, f := range serverFaults {
		block(label(i), f.name+":"+mend(i), f.block)
	}
	block("well", "no fault", "")
	p.write(t, ".config/bothy/config.hcl", text)
	p.start(t)
	p.serving(t)
	well := func(when string) {
		if out, err := p.bothy("tools", "call", "mcp__well__do"); err != nil || out != "done\n" {
			t.Errorf("%s: %v %s", when, err, out)
		}
	}
	well("at first")
	for i, f := range serverFaults {
		t.Run(f.name, func(t *testing.T) {
			tool := "mcp__" + label(i) + "__do"
			type said struct {
				out string
				err error
			}
			done := make(chan said)
			go func() {
				out, err := p.bothy("tools", "call", tool)
				done <- said{out, err}
			}()
			well("meanwhile")
			got := <-done
			says := strings.ReplaceAll(f.says, "LABEL", label(i))
			switch {
			case says == "" && (got.err != nil || got.out != "done\n"):
				t.Errorf("its other tool: %v %s", got.err, got.out)
			case says != "" && (got.err == nil || len(regexp.MustCompile(says).FindAllString(got.out, -1)) != 1 || strings.Count(got.out, "\n") > 2):
				t.Errorf("%v; %q, and not one line %s", got.err, got.out, says)
			}
			if logs := strings.ReplaceAll(f.logs, "LABEL", label(i)); logs != "" {
				if log, err := os.ReadFile(p.log); err != nil || strings.Count(strings.ReplaceAll(string(log), `\"`, `"`), logs) != 1 {
					t.Errorf("%v; the log has not one line with %q", err, logs)
				}
			}
			well("afterwards")
			p.write(t, strings.TrimPrefix(mend(i), p.home+"/"), "")
			out, err := p.bothy("tools", "call", tool)
			for deadline := time.Now().Add(time.Minute); f.name == "renames its tools" && err != nil && time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
				out, err = p.bothy("tools", "call", tool) // until it was listed again
			}
			if err != nil || out != "done\n" {
				t.Errorf("it is not found again: %v %s", err, out)
			}
		})
	}
	if out, err := p.bothy("tools", "list", "--json"); err != nil || strings.Count(out, `"name": "mcp__`+label(10)+"__") != 500 {
		t.Errorf("%v: %d tools of 5,000", err, strings.Count(out, `"name": "mcp__`+label(10)+"__"))
	}
	if out, err := p.bothy("stop"); err != nil {
		t.Errorf("%v %s", err, out)
	}
}
