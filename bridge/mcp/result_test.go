package main

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestResult(t *testing.T) {
	b64 := base64.StdEncoding.EncodeToString
	for _, c := range []struct {
		name   string
		result sdk.ToolResult
		want   string
	}{
		{"a text", sdk.ToolResult{Success: true, Output: "hi"}, `{"content":[{"type":"text","text":"hi"}]}`},
		{"nothing", sdk.ToolResult{Success: true}, `{"content":[{"type":"text","text":""}]}`},
		{"a failure", sdk.ToolResult{Output: "half", Error: "it broke"}, `{"content":[{"type":"text","text":"half\nit broke"}],"isError":true}`},
		{"a failure that says so", sdk.ToolResult{Output: "it broke", Error: "it broke"}, `{"content":[{"type":"text","text":"it broke"}],"isError":true}`},
		{"an object", sdk.ToolResult{Success: true, Output: "x", Structured: json.RawMessage(`{"a":1}`)}, `{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1}}`},
		{"a list", sdk.ToolResult{Success: true, Output: "x", Structured: json.RawMessage(`[1]`)}, `{"content":[{"type":"text","text":"x"}]}`},
		{"a picture", sdk.ToolResult{Success: true, Metadata: map[string]any{"media": []any{map[string]any{"kind": "image", "mime_type": "image/png", "data": b64([]byte("p"))}}}},
			`{"content":[{"type":"image","mimeType":"image/png","data":"cA=="}]}`},
		{"a sound that was too large", sdk.ToolResult{Success: true, Output: "[audio]", Metadata: map[string]any{"media": []sdk.Medium{{Kind: "audio"}}}}, `{"content":[{"type":"text","text":"[audio]"}]}`},
		{"a text resource", sdk.ToolResult{Success: true, Output: "x", Metadata: map[string]any{"media": []sdk.Medium{{Kind: "resource", MIMEType: "text/plain; charset=utf-8", URI: "a:b", Data: b64([]byte("t"))}}}},
			`{"content":[{"type":"text","text":"x"},{"type":"resource","resource":{"uri":"a:b","mimeType":"text/plain; charset=utf-8","text":"t"}}]}`},
		{"a binary resource", sdk.ToolResult{Success: true, Output: "x", Metadata: map[string]any{"media": []sdk.Medium{{Kind: "resource", URI: "a:b", Data: b64([]byte{0xff})}}}},
			`{"content":[{"type":"text","text":"x"},{"type":"resource","resource":{"uri":"a:b","blob":"/w=="}}]}`},
		{"another tool's media", sdk.ToolResult{Success: true, Output: "x", Metadata: map[string]any{"media": "tv"}}, `{"content":[{"type":"text","text":"x"}]}`},
		{"what is no text", sdk.ToolResult{Success: true, Output: "\xff"}, `{"content":[{"type":"text","text":"�"}]}`},
	} {
		got, err := json.Marshal(result(c.result))
		if err != nil || !sameJSON(got, json.RawMessage(c.want)) {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
	}
	long := result(sdk.ToolResult{Success: true, Output: strings.Repeat("ä", mostOutput)})
	if raw, _ := json.Marshal(long); len(raw) > mostOutput+500 || !strings.Contains(string(raw), "was cut") {
		t.Errorf("%d bytes", len(raw))
	}
}
