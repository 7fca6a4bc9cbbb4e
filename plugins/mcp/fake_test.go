package main

//lint:file-ignore SA1019 the servers there are speak protocols of before 2026-07-28, in which sampling and logging are not deprecated

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMain is also the server that the tests start: this binary, with what it is to do in
// its environment.
func TestMain(m *testing.M) {
	if what := os.Getenv("SERVER"); what != "" {
		os.Exit(serve(what))
	}
	os.Exit(m.Run())
}

// serve is a server as the tests need it.
func serve(what string) int {
	what, mark, _ := strings.Cut(what, ":")
	again := false // the second start of one with a mark
	if mark != "" {
		_, err := os.Stat(mark)
		again = err == nil
		_ = os.WriteFile(mark, nil, 0o600)
	}
	if again && what == "once" {
		what = "silent"
	}
	switch what {
	case "undecodable", "bare", "dying", "mute":
		return raw(what)
	case "silent":
		_, _ = bufio.NewReader(os.Stdin).ReadString(0)
		return 0
	case "broken":
		fmt.Fprintln(os.Stderr, "cannot open my database")
		return 3
	case "huge":
		fmt.Print(`{"jsonrpc":"2.0","id":1,"result":{"x":"` + strings.Repeat("a", 20<<20))
		_, _ = bufio.NewReader(os.Stdin).ReadString(0)
		return 0
	case "garbage":
		fmt.Println(`{"jsonrpc":"2.0",`)
		_, _ = bufio.NewReader(os.Stdin).ReadString(0)
		return 0
	}
	if what == "noisy" {
		fmt.Println("starting up, please wait")
		fmt.Println("[info] ready")
		fmt.Println(" [12:30:00] {still} ready")
		fmt.Println("[]\n[\n[ ")
		fmt.Println(strings.Repeat("noise ", 100_000))
	}
	o := &mcp.ServerOptions{PageSize: 3}
	if what == "legacy" {
		o.SupportedProtocolVersions = []string{"2025-06-18"}
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "fake", Version: "1"}, o)
	offer(s)
	if what == "verbose" {
		for i := range mostPrompts {
			s.AddPrompt(&mcp.Prompt{Name: fmt.Sprintf("%s%03d", strings.Repeat("n", 5<<10), i), Description: strings.Repeat("d", 9<<10)}, nil)
		}
	}
	if again {
		s.AddTool(&mcp.Tool{Name: "later", InputSchema: map[string]any{"type": "object"}}, nil)
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		return 1
	}
	return 0
}

// raw is a server that the SDK would not be.
func raw(what string) int {
	var waits json.RawMessage // the call of wait
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var r struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		if json.Unmarshal(in.Bytes(), &r) != nil || r.ID == nil {
			continue
		}
		answer := `"error":{"code":-32601,"message":"no such method"}`
		switch r.Method {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"raw","version":"1"},"capabilities":{"tools":{"listChanged":true}}}`
			if what == "bare" {
				answer = `"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"raw","version":"1"}}`
			}
		case "tools/list":
			answer = `"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"wait","inputSchema":{"type":"object"}},{"name":"release","inputSchema":{"type":"object"}}]}`
		case "server/discover":
			if what == "mute" {
				continue
			}
		case "tools/call":
			if what == "dying" {
				fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				return 4
			}
			switch r.Params.Name {
			case "wait":
				waits = r.ID
				fmt.Fprintln(os.Stderr, "waiting")
				continue
			case "release":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"waited"}]}}`+"\n", waits)
				answer = `"result":{"content":[]}`
			default:
				answer = `"result":{"content":5}`
			}
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", r.ID, answer)
	}
	return 0
}

// offer gives a server the tools of the tests.
func offer(s *mcp.Server) {
	add := func(name string, a *mcp.ToolAnnotations, do func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)) {
		s.AddTool(&mcp.Tool{Name: name, Description: "does " + name, InputSchema: map[string]any{"type": "object"}, Annotations: a}, do)
	}
	text := func(texts ...string) *mcp.CallToolResult {
		r := &mcp.CallToolResult{}
		for _, t := range texts {
			r.Content = append(r.Content, &mcp.TextContent{Text: t})
		}
		return r
	}
	add("echo", &mcp.ToolAnnotations{ReadOnlyHint: true}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(string(r.Params.Arguments)), nil
	})
	add("environment", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(os.Environ()...), nil
	})
	add("fail", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r := text("no such issue")
		r.IsError = true
		return r, nil
	})
	add("refuse", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("not today")
	})
	add("mixed", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r := text("one", "two")
		r.Content = append(r.Content, &mcp.ImageContent{MIMEType: "image/png", Data: []byte("png")},
			&mcp.AudioContent{MIMEType: "audio/wav", Data: []byte("sound")},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "note://1", Text: "a note"}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file://2", MIMEType: "application/pdf", Blob: []byte("pdf")}},
			&mcp.ResourceLink{URI: "note://3", Name: "third"})
		r.StructuredContent = map[string]int{"n": 3}
		return r, nil
	})
	add("steps", nil, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 4 {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 4, Message: "step"})
		}
		<-ctx.Done() // what is told behind a result reaches nobody
		return nil, ctx.Err()
	})
	add("wait", nil, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "waiting")
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "cancelled")
		return nil, ctx.Err()
	})
	add("die", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "fatal: out of luck")
		os.Exit(7)
		return nil, nil
	})
	add("flood", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(strings.Repeat("a", 12<<20)), nil
	})
	add("ask", nil, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if answer, is := r.Params.InputResponses["q"].(*mcp.CreateMessageWithToolsResult); is {
			return text(answer.Content[0].(*mcp.TextContent).Text), nil
		}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.CreateMessageParams{
			SystemPrompt: "be brief", MaxTokens: 10, Temperature: 0.5,
			Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "hello"}}},
		}}}, nil
	})
	elicit := func(p *mcp.ElicitParams) func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if answer, is := r.Params.InputResponses["q"].(*mcp.ElicitResult); is {
				said, err := json.Marshal(answer.Content)
				return text(answer.Action + " " + string(said)), err
			}
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": p}}, nil
		}
	}
	add("form", nil, elicit(&mcp.ElicitParams{Mode: "form", Message: "Where to?", RequestedSchema: json.RawMessage(
		`{"type":"object","properties":{"when":{"type":"string"},"city":{"type":"string"}},"required":["city"]}`)}))
	add("address", nil, elicit(&mcp.ElicitParams{Mode: "url", Message: "Sign in.", URL: "https://far.example/login", ElicitationID: "e1"}))
	opened := false
	add("first", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if !opened {
			opened = true
			return nil, mcp.URLElicitationRequiredError([]*mcp.ElicitParams{{Mode: "url", Message: "Sign in.", URL: "https://far.example/login", ElicitationID: "e1"}})
		}
		return text("signed in"), nil
	})
	add("rename", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.RemoveTools("mixed")
		for i := range 3 {
			add(fmt.Sprintf("new-%d", i), nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("new"), nil })
		}
		return text("renamed"), nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "Greet", Description: "greets", Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}, {Name: "how", Description: "in what way"}}},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
				{Role: "user", Content: &mcp.TextContent{Text: "Greet " + r.Params.Arguments["who"] + " " + r.Params.Arguments["how"]}},
				{Role: "assistant", Content: &mcp.TextContent{Text: "Hello."}},
				{Role: "user", Content: &mcp.ImageContent{MIMEType: "image/png", Data: []byte("png")}},
			}}, nil
		})
	s.AddPrompt(&mcp.Prompt{Name: "echo"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return nil, errors.New("no echo")
	})
	reads := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		c := &mcp.ResourceContents{URI: r.Params.URI, Text: "the text of " + r.Params.URI}
		switch r.Params.URI {
		case "note://blob":
			c = &mcp.ResourceContents{URI: r.Params.URI, MIMEType: "application/pdf", Blob: []byte("pdf")}
		case "note://large":
			c = &mcp.ResourceContents{URI: r.Params.URI, Blob: make([]byte, 3<<20)}
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
	}
	for _, uri := range []string{"note://1", "note://2", "note://3", "note://4", "note://blob", "note://large"} { // two pages
		s.AddResource(&mcp.Resource{URI: uri, Name: uri, Description: "a  note", MIMEType: "text/plain"}, reads)
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "note://by/{day}", Name: "by day"}, reads)
	add("more-prompts", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.RemovePrompts("echo")
		s.AddPrompt(&mcp.Prompt{Name: "later"}, nil)
		return text("more"), nil
	})
	s.AddTool(&mcp.Tool{Name: "odd", InputSchema: map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}}},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in struct{ N int }
			if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
				return nil, err
			}
			return text(fmt.Sprint(in.N, time.Duration(in.N))), nil
		})
}
