package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
)

// Bounds of one result. The model is given less (docs/runs.md); these keep a message
// within what the wire takes.
const (
	mostText       = 8 << 20
	mostStructured = 1 << 20
	mostMedia      = 1 << 20 // base64 of all images and sounds of a result
)

// result is what a tool of MCP answered. Each text is output; of what is no text the output
// has a line that says what it is, and the metadata the bytes.
func result(tool string, r *mcp.CallToolResult) sdk.ToolResult {
	var texts []string
	var media []sdk.Medium
	room := mostMedia
	keep := func(kind, mime, uri string, data []byte) {
		m := sdk.Medium{Kind: kind, MIMEType: mime, URI: uri, Bytes: len(data)}
		if n := base64.StdEncoding.EncodedLen(len(data)); n <= room {
			room -= n
			m.Data = base64.StdEncoding.EncodeToString(data)
		}
		media = append(media, m)
		texts = append(texts, strings.Join(strings.Fields(fmt.Sprintf("[%s %s %s, %d bytes]", kind, uri, mime, len(data))), " "))
	}
	for _, c := range r.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			texts = append(texts, c.Text)
		case *mcp.ImageContent:
			keep(sdk.MediumImage, c.MIMEType, "", c.Data)
		case *mcp.AudioContent:
			keep("audio", c.MIMEType, "", c.Data)
		case *mcp.ResourceLink:
			texts = append(texts, strings.TrimSpace(fmt.Sprintf("[resource %s] %s %s", c.URI, c.Name, c.Description)))
		case *mcp.EmbeddedResource:
			switch {
			case c.Resource == nil:
			case c.Resource.Blob != nil:
				keep("resource", c.Resource.MIMEType, c.Resource.URI, c.Resource.Blob)
			default:
				texts = append(texts, fmt.Sprintf("[resource %s]\n%s", c.Resource.URI, c.Resource.Text))
			}
		default:
			texts = append(texts, fmt.Sprintf("[%T, which is not shown]", c))
		}
	}
	out := sdk.ToolResult{Success: !r.IsError, Output: strings.Join(texts, "\n")}
	if len(media) > 0 {
		out.Metadata = map[string]any{"media": media}
	}
	if structured, err := json.Marshal(r.StructuredContent); err == nil && r.StructuredContent != nil {
		if len(structured) <= mostStructured {
			out.Structured = structured
		} else {
			out.Truncated = true
		}
		if len(texts) == 0 { // a server should say it as text too, and some do not
			out.Output = string(structured)
		}
	}
	if len(out.Output) > mostText {
		out.Output, out.Truncated = clip(out.Output, mostText), true
	}
	if r.IsError {
		out.Outcome = sdk.Internal
		out.Error = clip(strings.TrimSpace(out.Output), 1000)
		if out.Error == "" {
			out.Error = tool + " failed, and its server did not say why"
		}
	}
	return out
}

// broken says whether the error of a call is one of the connection: an answer that is an
// error, or that cannot be read, leaves it to other calls.
func (c *connection) broken(err error) bool {
	var system syscall.Errno
	switch {
	case errors.Is(err, mcp.ErrConnectionClosed), errors.Is(err, mcp.ErrSessionMissing):
		return true
	case answered(err):
		return false
	case c.process != nil && c.process.unheard.Load():
		return true
	}
	return errors.As(err, &system) || errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) || strings.Contains(err.Error(), errLarge.Error())
}

// answered says whether the error is one that the server answered.
func answered(err error) bool {
	var its *jsonrpc.Error
	return errors.As(err, &its)
}
