package main

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/coder/acp-go-sdk"
)

func text(s string) acp.ContentBlock { return acp.TextBlock(s) }

func link(name, uri string) acp.ContentBlock { return acp.ResourceLinkBlock(name, uri) }

func file(uri, body string) acp.ContentBlock {
	return acp.ResourceBlock(acp.EmbeddedResourceResource{TextResourceContents: &acp.TextResourceContents{Uri: uri, Text: body}})
}

func blob(uri, body string) acp.ContentBlock {
	return acp.ResourceBlock(acp.EmbeddedResourceResource{BlobResourceContents: &acp.BlobResourceContents{Uri: uri, Blob: base64.StdEncoding.EncodeToString([]byte(body))}})
}

func TestPromptText(t *testing.T) {
	for name, c := range map[string]struct {
		blocks []acp.ContentBlock
		want   string
	}{
		"a text":                   {[]acp.ContentBlock{text("do it\n")}, "do it"},
		"two texts":                {[]acp.ContentBlock{text("one"), text("two")}, "one\n\ntwo"},
		"a skill":                  {[]acp.ContentBlock{text("/explain "), link("a.go", "file:///p/a.go")}, "/explain `a.go`"},
		"a link in a text":         {[]acp.ContentBlock{text("look at "), link("a.go", "file:///p/src/a.go"), text(" please")}, "look at `src/a.go` please"},
		"a link without blanks":    {[]acp.ContentBlock{text("look at"), link("a.go", "file:///p/src/a.go"), text(", please")}, "look at `src/a.go`, please"},
		"lines":                    {[]acp.ContentBlock{link("a.go", "file:///p/a.go#L3:7")}, "`a.go` lines 3 to 7"},
		"lines with letters":       {[]acp.ContentBlock{link("a.go", "file:///p/a.go#L3-L7")}, "`a.go` lines 3 to 7"},
		"a line":                   {[]acp.ContentBlock{link("a.go", "file:///p/a.go#L3")}, "`a.go` line 3"},
		"escaped":                  {[]acp.ContentBlock{link("a b.go", "file:///p/a%20b.go")}, "`a b.go`"},
		"beside the project":       {[]acp.ContentBlock{link("b.go", "file:///other/b.go")}, "`/other/b.go`"},
		"out by dots":              {[]acp.ContentBlock{link("b.go", "file:///p/../b.go")}, "`/b.go`"},
		"a page":                   {[]acp.ContentBlock{link("Issue 7", "https://example.com/7")}, "Issue 7 (https://example.com/7)"},
		"a page without a name":    {[]acp.ContentBlock{link("https://example.com/7", "https://example.com/7")}, "https://example.com/7"},
		"a file with its text":     {[]acp.ContentBlock{text("fix "), file("file:///p/a.go", "package a\n")}, "fix `a.go`\n\n`a.go` (file:///p/a.go), as the editor has it:\n\n```\npackage a\n```"},
		"a file with its bytes":    {[]acp.ContentBlock{text("fix "), blob("file:///p/a.go", "package a\n")}, "fix `a.go`\n\n`a.go` (file:///p/a.go), as the editor has it:\n\n```\npackage a\n```"},
		"a text with fences in it": {[]acp.ContentBlock{file("file:///p/a.md", "```\n````\n")}, "`a.md`\n\n`a.md` (file:///p/a.md), as the editor has it:\n\n`````\n```\n````\n`````"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, _, err := promptOf(c.blocks, "/p")
			if err != nil || got != c.want {
				t.Errorf("%q, %v\nwant %q", got, err, c.want)
			}
		})
	}
}

func TestPromptTextRefuses(t *testing.T) {
	for name, block := range map[string]acp.ContentBlock{
		"no image":  acp.ImageBlock("AAAA", "image/png"),
		"no data":   acp.ImageBlock("*", "image/png"),
		"a sound":   acp.AudioBlock("AAAA", "audio/wav"),
		"bytes":     acp.ResourceBlock(acp.EmbeddedResourceResource{BlobResourceContents: &acp.BlobResourceContents{Uri: "file:///p/a.bin", Blob: "AAAA"}}),
		"no base64": acp.ResourceBlock(acp.EmbeddedResourceResource{BlobResourceContents: &acp.BlobResourceContents{Uri: "file:///p/a.txt", Blob: "*"}}),
		"nothing":   {},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := promptOf([]acp.ContentBlock{text("look"), block}, "/p")
			var refused *acp.RequestError
			if !errors.As(err, &refused) || refused.Code != codeParams {
				t.Errorf("it was not refused: %v", err)
			}
		})
	}
}

// FuzzPromptText: whatever an editor names, what it gives along is quoted whole, within a fence
// that nothing in it ends.
func FuzzPromptText(f *testing.F) {
	f.Add("look", "file:///p/a.go#L1:2", "package a\n")
	f.Add("", "zed:///x?y#z", "```\n")
	f.Add("a", "://", "````")
	f.Add("0", " ", "0")
	f.Fuzz(func(t *testing.T, say, uri, body string) {
		got, along, _, err := promptOf([]acp.ContentBlock{text(say), link("x", uri), file(uri, body)}, "/p")
		if err != nil {
			t.Fatal(err)
		}
		if wrote, _, _, err := promptOf([]acp.ContentBlock{text(say), link("x", uri), link("", uri)}, "/p"); err != nil || got[:len(got)-along] != wrote {
			t.Errorf("%q is taken for what the person wrote of %q, %v", got[:len(got)-along], got, err)
		}
		fence := got[strings.LastIndexByte(got, '\n')+1:]
		if strings.Trim(fence, "`") != "" || len(fence) < 3 || strings.Contains(body, fence) {
			t.Errorf("the fence %q does not hold %q", fence, body)
		}
		if !strings.HasSuffix(got, "\n"+strings.TrimSuffix(body, "\n")+"\n"+fence) {
			t.Errorf("%q is not whole in %q", body, got)
		}
	})
}

// dot is a picture of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="

// TestPromptImages: an image stands in the text as its number, also one that comes as a file's bytes.
func TestPromptImages(t *testing.T) {
	bytes := acp.ResourceBlock(acp.EmbeddedResourceResource{BlobResourceContents: &acp.BlobResourceContents{Uri: "file:///p/a.png", Blob: dot}})
	got, _, media, err := promptOf([]acp.ContentBlock{text("is"), acp.ImageBlock(dot, "image/jpeg"), text("like"), bytes, text("?")}, "/p")
	if err != nil || got != "is [image 1] like [image 2]?" || len(media) != 2 || media[0].Data != dot || media[0].MIMEType != "image/png" {
		t.Errorf("%q, %+v, %v", got, media, err)
	}
	if got, _, media, err := promptOf([]acp.ContentBlock{acp.ImageBlock(dot, "image/png")}, "/p"); err != nil || got != "[image 1]" || len(media) != 1 {
		t.Errorf("alone: %q, %v", got, err)
	}
}
