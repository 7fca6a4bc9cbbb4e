package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/picture"
)

// promptOf is the text of a prompt, and its images. A link stands in it as a path of the project, or as its URI;
// a text that the editor gives along stands behind it, quoted, with what it is of: the editor may
// have it otherwise than the disk. How many bytes that are is said, since the person did not write them. An image stands in it as its number.
func promptOf(blocks []acp.ContentBlock, project string) (prompt string, along int, media []sdk.Medium, err error) {
	var text strings.Builder
	var quoted []string
	var pictures [][]byte
	show := func(data []byte) {
		pictures = append(pictures, data)
		mark := fmt.Sprintf("[image %d]", len(pictures))
		separate(&text, mark, " ")
		text.WriteString(mark)
	}
	quote := func(uri, body string) {
		link := placeOf(uri, "", project)
		separate(&text, link, " ")
		text.WriteString(link)
		quoted = append(quoted, fmt.Sprintf("%s (%s), as the editor has it:\n\n%s", link, uri, fenced(body)))
	}
	said := false // the last block was a text
	for _, block := range blocks {
		switch {
		case block.Text != nil:
			if said {
				separate(&text, block.Text.Text, "\n\n")
			} else {
				separate(&text, block.Text.Text, " ")
			}
			text.WriteString(block.Text.Text)
		case block.ResourceLink != nil:
			link := placeOf(block.ResourceLink.Uri, block.ResourceLink.Name, project)
			separate(&text, link, " ")
			text.WriteString(link)
		case block.Resource != nil && block.Resource.Resource.TextResourceContents != nil:
			quote(block.Resource.Resource.TextResourceContents.Uri, block.Resource.Resource.TextResourceContents.Text)
		case block.Resource != nil && block.Resource.Resource.BlobResourceContents != nil:
			r := block.Resource.Resource.BlobResourceContents
			body, is := textOf(r.Blob)
			switch data, err := base64.StdEncoding.DecodeString(r.Blob); {
			case is:
				quote(r.Uri, body)
			case err == nil && picture.Looks(data):
				show(data)
			default:
				return "", 0, nil, refuse(sdk.Validation, "%s is neither a text nor an image, which prompts take: name the file instead", r.Uri)
			}
		case block.Image != nil:
			data, err := base64.StdEncoding.DecodeString(block.Image.Data)
			if err != nil {
				return "", 0, nil, refuse(sdk.Validation, "the data of image %d is not base64", len(pictures)+1)
			}
			show(data)
		case block.Audio != nil:
			return "", 0, nil, refuse(sdk.Validation, "no sound can be given to a model here: write what is said")
		default:
			return "", 0, nil, refuse(sdk.Validation, "the prompt has a part that is neither text nor a link nor a file's text")
		}
		said = block.Text != nil
	}
	wrote := strings.TrimRightFunc(text.String(), unicode.IsSpace)
	all := strings.Join(append([]string{wrote}, quoted...), "\n\n")
	media, err = picture.Given(pictures, len(all))
	if err != nil {
		return "", 0, nil, refuse(sdk.Validation, "%v", err)
	}
	return all, len(all) - len(wrote), media, nil
}

// textOf is the text that some bytes are, written as an editor writes bytes.
func textOf(blob string) (text string, is bool) {
	body, err := base64.StdEncoding.DecodeString(blob)
	return string(body), err == nil && utf8.Valid(body) && !bytes.ContainsRune(body, 0)
}

// separate writes what belongs between what stands there and what comes, where neither has a
// blank or a mark of its own there.
func separate(text *strings.Builder, next, by string) {
	before, _ := utf8.DecodeLastRuneInString(text.String())
	after, _ := utf8.DecodeRuneInString(next)
	if text.Len() == 0 || next == "" || unicode.IsSpace(before) || unicode.IsSpace(after) || by == " " && strings.ContainsRune(".,;:!?)]", after) || by == " " && strings.ContainsRune("([", before) {
		return
	}
	text.WriteString(by)
}

// linesOf is the end of a URI that names lines, as editors write it.
var linesOf = regexp.MustCompile(`^L(\d+)(?:[:-]L?(\d+))?$`)

// placeOf is what a URI names, as a model can use it: the path of a file, relative to the project
// where it lies in that, else the URI with its name.
func placeOf(uri, name, project string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" && u.Scheme != "" || !filepath.IsAbs(u.Path) {
		if name == "" || name == uri {
			return uri
		}
		return name + " (" + uri + ")"
	}
	place := filepath.Clean(u.Path)
	if inside, err := filepath.Rel(project, place); err == nil && filepath.IsLocal(inside) {
		place = inside
	}
	place = "`" + place + "`"
	switch m := linesOf.FindStringSubmatch(u.Fragment); {
	case m == nil:
		return place
	case m[2] == "" || m[2] == m[1]:
		return place + " line " + m[1]
	default:
		return place + " lines " + m[1] + " to " + m[2]
	}
}

// fenced is a text as a block of code, whose fence stands nowhere in it.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}
