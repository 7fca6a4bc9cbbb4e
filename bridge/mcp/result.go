package main

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
)

// mostOutput is how many bytes of a tool's output a client gets.
const mostOutput = 1 << 20

// result is what a tool answered, as the client gets it: its output, why it failed, and what is
// no text behind that.
func result(r sdk.ToolResult) *mcp.CallToolResult {
	output := sdk.Head(r.Output, mostOutput)
	if r.Truncated || output != r.Output {
		output += "\n(This is not the whole output, which was cut.)"
	}
	if !r.Success && r.Error != "" && !strings.Contains(output, r.Error) {
		output = strings.TrimLeft(output+"\n"+r.Error, "\n")
	}
	out := &mcp.CallToolResult{IsError: !r.Success, Content: []mcp.Content{}}
	media := mediaOf(r.Metadata)
	if output != "" || len(media) == 0 {
		out.Content = append(out.Content, text(output))
	}
	for _, m := range media {
		if c := contentOf(m); c != nil {
			out.Content = append(out.Content, c)
		}
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(r.Structured, &object) == nil && object != nil { // before 2026 it has to be an object
		out.StructuredContent = r.Structured
	}
	return out
}

// mediaOf reads what is no text of a result.
func mediaOf(metadata map[string]any) (media []sdk.Medium) {
	raw, err := json.Marshal(metadata["media"])
	if err != nil || json.Unmarshal(raw, &media) != nil {
		return nil // another tool's own
	}
	return media
}

// contentOf is a medium as the protocol has it; nil where the bytes are not there.
func contentOf(m sdk.Medium) mcp.Content {
	data, err := base64.StdEncoding.DecodeString(m.Data)
	if err != nil || len(data) == 0 {
		return nil
	}
	switch m.Kind {
	case sdk.MediumImage:
		return &mcp.ImageContent{Data: data, MIMEType: m.MIMEType}
	case "audio":
		return &mcp.AudioContent{Data: data, MIMEType: m.MIMEType}
	case "resource":
		c := &mcp.ResourceContents{URI: m.URI, MIMEType: m.MIMEType}
		if isText(m.MIMEType) && utf8.Valid(data) {
			c.Text = string(data)
		} else {
			c.Blob = data
		}
		return &mcp.EmbeddedResource{Resource: c}
	}
	return nil
}

// isText reports whether a type is one of text.
func isText(mime string) bool {
	mime, _, _ = strings.Cut(mime, ";")
	return strings.HasPrefix(mime, "text/") || mime == "application/json" || strings.HasSuffix(mime, "+json")
}

// text is a text of a result.
func text(s string) mcp.Content { return &mcp.TextContent{Text: strings.ToValidUTF8(s, "\uFFFD")} }

// failed is the result of a call that could not be made, for the model.
func failed(why string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{text(why)}}
}
